#include "sims/report/plot/style.h"

#include <fmt/format.h>

#include "sims/report/plot/palette.h"

namespace espalier::report {

namespace {

constexpr const char* kLightPage = "#ffffff";
constexpr const char* kDarkPage = "#14181c";

// The colours of series as CSS variables for a page of this colour.
std::string series_variables(const std::string& page) {
  std::string css;
  for (std::size_t look = 0; look < kNumLooks; ++look) {
    css += fmt::format("--c{}: {};\n", look, colour_on_page(look_of_series(look).colour, page));
  }
  return css;
}

std::string series_classes() {
  std::string css;
  for (std::size_t look = 0; look < kNumLooks; ++look)
    css += fmt::format(".c{0} {{ --c: var(--c{0}); }}\n", look);
  return css;
}

// Heat colours have one hue from low to high; high values contrast most with the page.
constexpr const char* kStyle = R"css(:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1b1f24; --soft: #59636e; --faint: #d8dee4; --grid: #e7ebef;
  --band: #f4f6f8; --best: #0b6b45; --best-band: #0b6b451a; --bad: #b3261e; --accent: #0b5cad; --shade: #8b98a5;
  --h0: #e3edf7; --h1: #cfe0f1; --h2: #b5d1e9; --h3: #93bfe0; --h4: #6daad6;
  --h5: #4689c0; --h6: #2f74b0; --h7: #1d5f9e; --h8: #124d87; --h9: #0a3463;
  --on-little: #1b1f24; --on-much: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14181c; --ink: #e6e9ec; --soft: #a2adb8; --faint: #3a434c; --grid: #2a3138;
    --band: #1c2228; --best: #5fd29b; --best-band: #5fd29b24; --bad: #ff8a80; --accent: #7cb8f2; --shade: #6b7885;
    --h0: #1d2b3a; --h1: #22384e; --h2: #274763; --h3: #2c5879; --h4: #33658b;
    --h5: #4b8fbc; --h6: #5f9fca; --h7: #79b4d9; --h8: #9ccce8; --h9: #c9e4f5;
    --on-little: #e6e9ec; --on-much: #0e1418;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
header, main, footer { max-width: 1280px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 28px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 14px; overflow-wrap: anywhere; }
h2 { font-size: 21px; line-height: 1.25; margin: 0 0 10px; }
h3 { font-size: 15px; line-height: 1.35; margin: 0 0 6px; overflow-wrap: anywhere; }
h3.run { margin-top: 18px; font-size: 17px; }
p, ul { margin: 0 0 12px; }
ul { padding-left: 20px; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
nav ul { display: flex; flex-wrap: wrap; gap: 4px 18px; list-style: none; margin: 0;
  padding: 10px 0; border-top: 1px solid var(--faint); border-bottom: 1px solid var(--faint); }
section { padding: 28px 0 4px; }
section > p, section > ul { max-width: 76ch; }
footer { color: var(--soft); font-size: 14px; padding-bottom: 28px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr));
  gap: 26px 40px; margin: 6px 0 20px; align-items: start; }
figure { margin: 0; min-width: 0; max-width: 620px; break-inside: avoid; }
@media (min-width: 1000px) { .beside { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
  gap: 26px 40px; align-items: start; } .beside td, .beside th { white-space: normal; } }
figcaption { color: var(--soft); font-size: 14px; margin-top: 4px; }
svg { display: block; width: 100%; height: auto; }
/* A shadow at an edge says that the table goes on there; the covers scroll with the table. */
.scroll { overflow-x: auto; margin: 0 0 14px; max-width: 100%;
  background: linear-gradient(90deg, var(--page) 30%, transparent) 0 0 / 40px 100% no-repeat local,
    linear-gradient(270deg, var(--page) 30%, transparent) 100% 0 / 40px 100% no-repeat local,
    linear-gradient(90deg, var(--shade), transparent) 0 0 / 10px 100% no-repeat scroll,
    linear-gradient(270deg, var(--shade), transparent) 100% 0 / 10px 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding: 0 0 4px; white-space: nowrap; }
th, td { padding: 4px 12px 4px 0; text-align: left; vertical-align: top; white-space: nowrap;
  border-bottom: 1px solid var(--grid); }
th { color: var(--soft); font-weight: 600; border-bottom-color: var(--faint); }
th.n, td.n { text-align: right; }
tr.best td { background: var(--best-band); }
tr:target td { background: var(--band); }
strong.best { color: var(--best); } strong.bad { color: var(--bad); }
details { margin: 0 0 12px; } td details { margin: 0; }
summary { cursor: pointer; }
code, pre { font: 13px/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre { margin: 4px 0; }
.tick, .key, .note { font-size: 13px; } .label { font-size: 14px; }
svg text { fill: var(--ink); font-family: inherit; }
svg .tick { fill: var(--soft); font-variant-numeric: tabular-nums; }
/* Notes lie on lines and marks. */
svg .note { paint-order: stroke; stroke: var(--page); stroke-width: 3px; stroke-linejoin: round; }
.middle { text-anchor: middle; } .end { text-anchor: end; }
svg .number { font-weight: 600; font-size: 12px; }
svg .on-little { fill: var(--on-little); } svg .on-much { fill: var(--on-much); }
.grid { stroke: var(--grid); } .axis { stroke: var(--soft); }
.line, .bound, .front { fill: none; stroke-width: 2; stroke-linejoin: round; }
.bound { stroke: var(--ink); stroke-width: 1.6; stroke-dasharray: 2 4; stroke-linecap: round; }
.front { stroke: var(--soft); stroke-width: 1.4; stroke-linejoin: miter; }
.dashed { stroke-dasharray: 7 4; }
.mark { stroke: var(--page); stroke-width: 1; }
.mark.hollow { stroke-width: 1.6; }
.segment { stroke: var(--page); stroke-width: 1; } .segment.pale { opacity: .55; }
.area { opacity: .85; } .bar { fill: var(--c1); }
.whisker { stroke: var(--ink); stroke-width: 1.3; }
.line { stroke: var(--c); } .mark, .segment, .area { fill: var(--c); }
.mark.hollow { fill: var(--page); stroke: var(--c); }
.h0 { --h: var(--h0); } .h1 { --h: var(--h1); } .h2 { --h: var(--h2); } .h3 { --h: var(--h3); }
.h4 { --h: var(--h4); } .h5 { --h: var(--h5); } .h6 { --h: var(--h6); } .h7 { --h: var(--h7); }
.h8 { --h: var(--h8); } .h9 { --h: var(--h9); }
.link { fill: none; stroke: var(--h); } .cell { shape-rendering: crispEdges; } .cell, .step { fill: var(--h); }
.step { stroke: var(--soft); stroke-width: .8; }
.vertex { fill: var(--page); stroke: var(--soft); stroke-width: 1.2; }
.switch { fill: var(--soft); stroke: var(--page); }
.root { fill: var(--c0); }
.wire { fill: none; stroke: var(--faint); stroke-width: 1; }
.edge { fill: none; stroke: var(--ink); stroke-width: 1.8; }
.strip { fill: none; stroke: var(--faint); }
@media (max-width: 600px) {
  header, main, footer { padding-left: 16px; padding-right: 16px; }
  h1 { font-size: 23px; }
}
@media print {
  nav { display: none; }
  .scroll { overflow: visible; }
  th, td { white-space: normal; overflow-wrap: anywhere; }
}
)css";

}  // namespace

std::string style_sheet() {
  return fmt::format(
      "{}:root {{ {} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}\n{}", kStyle,
      series_variables(kLightPage), series_variables(kDarkPage), series_classes());
}

}  // namespace espalier::report
