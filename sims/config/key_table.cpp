#include "sims/config/key_table.h"

namespace espalier {

const void* key_values::find(const Path& path, const RunPoint& point) {
  // A path only finds the struct; it changes nothing.
  return path(const_cast<RunPoint&>(point));
}

KeyDraft& KeyDraft::file_as(const std::string& name, std::vector<std::string> endings,
                            std::string_view all, std::vector<std::string> not_in_all) {
  ValueShape& shape = key_->shape;
  const auto found = std::find(shape.names.begin(), shape.names.end(), name);
  shape.file_name = static_cast<std::uint64_t>(found - shape.names.begin());
  shape.file_endings = std::move(endings);
  shape.all_word = all;
  shape.not_in_all = std::move(not_in_all);
  return *this;
}

ValueField value_field(const char* name, ValueType type, std::uint64_t min, std::uint64_t max,
                       bool required) {
  ValueField field;
  field.name = name;
  field.shape.type = type;
  field.shape.min = min;
  field.shape.max = max;
  field.required = required;
  return field;
}

KeyDraft AnyKeyGroup::key(ValueType type, const char* name, const MemberAccess& member) const {
  Key& key = table_->add(join_key(section_, name));
  key.shape.type = type;
  key.conditions = conditions_;
  key.resolved = resolved_;
  key.set = [path = path_, member](RunPoint& point, const Value& value) {
    member.set(path(point), value);
  };
  key.get = [path = path_, member](const RunPoint& point) {
    return member.get(key_values::find(path, point));
  };
  return KeyDraft(key);
}

KeyDraft AnyKeyGroup::key_or_implied(const char* name, const MemberAccess& member,
                                     const MemberAccess& is_implied) const {
  KeyDraft draft = key(ValueType::integer, name, member);
  Key& made = table_->last();
  made.shape.word_number = kNever;
  made.set = [path = path_, member, is_implied](RunPoint& point, const Value& value) {
    const bool implied = value.number == kNever;
    is_implied.set(path(point), number_value(implied ? 1 : 0));
    if (!implied) member.set(path(point), value);
  };
  made.get = [path = path_, member, is_implied](const RunPoint& point) {
    const void* owner = key_values::find(path, point);
    return is_implied.get(owner).number != 0 ? number_value(kNever) : member.get(owner);
  };
  return draft.word("auto");
}

KeyDraft AnyKeyGroup::named_key(const char* name, const MemberAccess& member,
                                const std::vector<std::string>& names) const {
  KeyDraft draft = key(ValueType::name, name, member);
  Key& made = table_->last();
  made.set = [path = path_, member, names](RunPoint& point, const Value& value) {
    Value chosen;
    chosen.text = names.at(value.number);
    member.set(path(point), chosen);
  };
  made.get = [path = path_, member, names](const RunPoint& point) {
    const std::string chosen = member.get(key_values::find(path, point)).text;
    const auto found = std::find(names.begin(), names.end(), chosen);
    return number_value(static_cast<std::uint64_t>(found - names.begin()));
  };
  return draft.names(names);
}

KeyDraft AnyKeyGroup::record_key(const char* name, std::vector<ValueField> fields) const {
  Key& key = table_->add(join_key(section_, name));
  key.shape.type = ValueType::record;
  key.shape.list = ListOf::any_number;
  key.shape.fields = std::move(fields);
  key.shape.zero_word = "none";
  key.conditions = conditions_;
  key.resolved = resolved_;
  key.optional = true;
  return KeyDraft(key);
}

}  // namespace espalier
