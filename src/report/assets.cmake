# Puts the page's files into undertext_report: one source whose assembler directive .incbin takes in each file
# as it is, so that a change to an asset costs one small compilation.

find_file(UNDERTEXT_CHART_JS chart.min.js REQUIRED
          PATHS /usr/share/javascript/chart.js
          DOC "Chart.js, minified (Debian package libjs-chart.js)")

set(report_assets ${CMAKE_CURRENT_LIST_DIR}/assets)
set(report_scripts core.js messages.js charts.js table.js main.js)  # in the order in which they run
list(TRANSFORM report_scripts PREPEND ${report_assets}/)

set(asset_files ${report_assets}/page.html ${report_assets}/style.css ${report_scripts} ${UNDERTEXT_CHART_JS})
set(SCRIPT_INCBINS "")
foreach(script ${report_scripts})
  string(APPEND SCRIPT_INCBINS "    \".incbin \\\"${script}\\\"\\n\"\n")
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/assets.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/report_assets.cpp @ONLY)

target_sources(undertext_report PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/report_assets.cpp)
set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/report_assets.cpp PROPERTIES
                            OBJECT_DEPENDS "${asset_files}" SKIP_PRECOMPILE_HEADERS ON)
