# Puts the files of the pages into undertext_report: one source whose assembler directive .incbin takes in each
# file as it is, so that a change to an asset costs one small compilation.

find_file(UNDERTEXT_CHART_JS chart.min.js REQUIRED
          PATHS /usr/share/javascript/chart.js
          DOC "Chart.js, minified (Debian package libjs-chart.js)")

set(report_assets ${CMAKE_CURRENT_LIST_DIR}/assets)
# In the order in which they run.
set(shared_scripts core.js pairs.js sortable_table.js canvas.js)
set(audit_scripts ${shared_scripts} messages.js defences.js charts.js table.js main.js)
set(experiment_scripts ${shared_scripts} experiment_cells.js experiment_plots.js experiment_parts.js experiments.js)

set(asset_files ${UNDERTEXT_CHART_JS})
foreach(file frame.html audit.html experiments.html scores.html style.css ${audit_scripts} ${experiment_scripts})
  list(APPEND asset_files ${report_assets}/${file})
endforeach()
foreach(page audit experiment)
  set(${page}_incbins "")
  foreach(script ${${page}_scripts})
    string(APPEND ${page}_incbins "    \".incbin \\\"${report_assets}/${script}\\\"\\n\"\n")
  endforeach()
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/assets.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/report_assets.cpp @ONLY)

target_sources(undertext_report PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/report_assets.cpp)
set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/report_assets.cpp PROPERTIES
                            OBJECT_DEPENDS "${asset_files}" SKIP_PRECOMPILE_HEADERS ON)
