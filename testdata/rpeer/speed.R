# The time that R's forecast package takes over series, and what it finds:
#   Rscript speed.R SERIES > TIMES
# A line of SERIES is a task, a name, the seasons (24:168; 1 is none) and the
# values, with commas between. A line of TIMES is the task, the name, the CPU
# seconds of one run and the AICc or AIC (NA where the task has none).
suppressPackageStartupMessages(library(forecast))
options(warn = -1)

tasks <- list(
  arima = function(y) { f <- auto.arima(y); forecast(f, h = 24); f$aicc },
  "arima-log" = function(y) { f <- auto.arima(y, lambda = 0); forecast(f, h = 24); f$aicc },
  ets = function(y) ets(y)$aicc,
  theta = function(y) { thetaf(y, h = 24); NA },
  stl = function(y) { stl(ts(as.numeric(y), frequency = min(attr(y, "msts"), frequency(y))), s.window = 13); NA },
  "stl-robust" = function(y) { stl(ts(as.numeric(y), frequency = min(attr(y, "msts"), frequency(y))), s.window = 13, robust = TRUE); NA },
  "mstl-ets" = function(y) { stlf(y, h = 24, method = "ets"); NA },
  tbats = function(y) tbats(y, use.parallel = FALSE)$AIC)

for (line in readLines(file(commandArgs(TRUE)[1]))) {
  cells <- strsplit(line, ",", fixed = TRUE)[[1]]
  seasons <- as.integer(strsplit(cells[3], ":", fixed = TRUE)[[1]])
  y <- as.numeric(cells[-(1:3)])
  y <- if (length(seasons) > 1) msts(y, seasons) else ts(y, frequency = seasons)
  run <- tasks[[cells[1]]]
  found <- NA; times <- 0; used <- 0
  while (used < 0.05) {
    used <- used + sum(system.time(found <- tryCatch(run(y), error = function(e) NA), gcFirst = FALSE)[1:2])
    times <- times + 1
  }
  cat(cells[1], ",", cells[2], ",", format(used / times, digits = 6), ",", format(found, digits = 12), "\n", sep = "")
}
