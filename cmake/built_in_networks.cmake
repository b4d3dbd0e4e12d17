# Writes the layer tables of configs/networks into a source file, so that the program finds them
# wherever it runs. The list is in the order in which users see it.
set(built_in_networks
  alexnet "image classification, 2012"
  alphago_zero "the game of Go, 20 blocks, 2017"
  faster_rcnn "object detection: ResNet-50 to conv4 and region proposals, 2015"
  gnmt "translation, 8 + 8 LSTM layers and attention, 2016"
  googlenet "image classification, Inception modules, 2015"
  ncf "recommendation, neural collaborative filtering, 2017"
  resnet152 "image classification, residual blocks, 152 layers, 2016"
  resnet50 "image classification, residual blocks, 2016"
  transformer "translation, base model, 2017")

function(espalier_write_built_in_networks template target)
  set(BUILT_IN_NETWORKS "")
  set(rest ${built_in_networks})
  while(rest)
    list(POP_FRONT rest name summary)
    set(file ${PROJECT_SOURCE_DIR}/configs/networks/${name}.csv)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} table)
    string(APPEND BUILT_IN_NETWORKS
           "      {\"${name}\", \"${summary}\", R\"table(${table})table\"},\n")
  endwhile()
  configure_file(${template} ${target} @ONLY)
endfunction()
