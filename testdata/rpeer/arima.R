# Facts that R's forecast package states about ARIMA models of textbook series,
# as JSON on standard output:
#   Rscript arima.R | gzip -9n > ../../forecast/testdata/r-arima.json.gz
# The series are those of facts.R, by name. R 4.2.2 with forecast 8.20 made what is kept.
suppressPackageStartupMessages(library(forecast))
options(warn = -1)

number <- function(x) ifelse(is.finite(x), trimws(formatC(as.numeric(x), digits = 9, width = 1, format = "g")), "null")
row <- function(x) paste0("[", paste(number(x), collapse = ","), "]")
named <- function(x) paste0("{", paste0('"', names(x), '":', number(x), collapse = ","), "}")

series <- list(
  co2 = co2, lynx = ts(as.numeric(lynx)), Nile = ts(as.numeric(Nile)), UKDriverDeaths = UKDriverDeaths, sunspot.year = ts(as.numeric(sunspot.year)),
  austres = austres, nhtemp = ts(as.numeric(nhtemp)), discoveries = ts(as.numeric(discoveries)), uspop = ts(as.numeric(uspop)), airmiles = ts(as.numeric(airmiles)),
  DAX = ts(as.numeric(EuStockMarkets[1:400, "DAX"])), BJsales = ts(as.numeric(BJsales)), presidents = presidents,
  USAccDeaths = USAccDeaths, mdeaths = mdeaths, fdeaths = fdeaths, gas = gas, woolyrnq = woolyrnq,
  treering = ts(as.numeric(treering[1:300])), sunspots = ts(as.numeric(sunspots[1:600]), frequency = 12), lh = ts(as.numeric(lh)),
  airquality = ts(airquality$Ozone, frequency = 7), Seatbelts = Seatbelts[, "VanKilled"])

# A model is "p,d,q P,D,Q what...": what is mean, drift, log, trend, waves, gaps, ML, CSS.
plain <- c("1,0,0 0,0,0 mean", "2,0,1 0,0,0 mean", "0,1,1 0,0,0", "1,1,1 0,0,0 drift", "2,1,2 0,0,0", "0,2,1 0,0,0", "3,0,0 0,0,0 mean trend",
  "0,1,1 0,0,0 log", "1,0,1 0,0,0 mean ML", "1,1,0 0,0,0 gaps", "2,0,0 0,0,0 mean gaps", "1,1,1 0,0,0 drift gaps", "3,0,0 0,0,0 mean CSS", "0,1,2 0,0,0 trend")
seasonal <- c("0,1,1 0,1,1", "1,0,0 0,1,1 drift", "2,0,0 1,0,0 mean", "1,1,1 1,1,1", "0,1,2 0,1,1 log", "1,0,1 1,1,0 trend", "1,1,1 0,1,1 gaps",
  "2,1,0 0,0,1", "1,0,1 0,0,0 mean waves", "0,1,1 0,1,1 ML", "1,0,0 1,0,0 mean gaps", "2,0,0 0,1,0 CSS", "1,0,2 0,1,1 drift log gaps")

gapped <- function(y) { y[seq_along(y) %% 11 == 5] <- NA; y }
said <- function(fit, h, xreg) {
  f <- if (is.null(xreg)) forecast(fit, h = h) else forecast(fit, xreg = xreg)
  k <- unique(c(1, 2, h %/% 2, h)); o <- arimaorder(fit)
  paste0('"model":"', as.character(fit), '","order":', row(c(o, rep(0, 7))[1:6]), ',"coef":', if (length(coef(fit))) named(coef(fit)) else "{}",
    ',"loglik":', number(fit$loglik), ',"aicc":', number(if (is.null(fit$aicc)) NA else fit$aicc), ',"sigma2":', number(fit$sigma2),
    ',"mean":', row(f$mean[k]), ',"hi95":', row(f$upper[k, 2]))
}
one <- function(y, spec) {
  part <- strsplit(spec, " ")[[1]]; has <- function(w) w %in% part
  if (has("log") && min(y, na.rm = TRUE) <= 0) return(NULL)
  if (has("gaps")) y <- gapped(y)
  n <- length(y); m <- frequency(y); h <- if (m > 1) 2 * m else 10; x <- NULL; later <- NULL
  if (has("trend")) { x <- cbind(trend = log(1:n)); later <- cbind(trend = log(n + 1:h)) }
  if (has("waves")) { x <- fourier(y, K = 2); later <- fourier(y, K = 2, h = h) }
  orders <- lapply(strsplit(part[1:2], ","), as.integer)
  given <- list(y = y, order = orders[[1]], seasonal = orders[[2]], include.mean = has("mean"), include.drift = has("drift"),
    method = if (has("ML")) "ML" else if (has("CSS")) "CSS" else "CSS-ML")
  if (!is.null(x)) given$xreg <- x
  if (has("log")) given$lambda <- 0
  fit <- tryCatch(do.call(Arima, given), error = function(e) NULL)
  if (is.null(fit)) return(NULL)
  tryCatch(paste0('{"spec":"', spec, '",', said(fit, h, later), "}"), error = function(e) { message(spec, ": ", conditionMessage(e)); NULL })
}
auto <- function(y, spec) {
  if (spec == "log" && min(y, na.rm = TRUE) <= 0) return(NULL)
  if (spec == "gaps") y <- gapped(y)
  if (spec == "gaps" && length(y) > 400) return(NULL)
  if (spec == "all" && (frequency(y) > 1 || length(y) > 150)) return(NULL)
  if (spec == "exact" && length(y) > 125 && frequency(y) > 4) return(NULL)
  took <- system.time(fit <- tryCatch(switch(spec, log = auto.arima(y, lambda = 0), all = auto.arima(y, stepwise = FALSE, approximation = FALSE),
    exact = auto.arima(y, approximation = FALSE), auto.arima(y)), error = function(e) NULL))
  if (is.null(fit)) return(NULL)
  message(spec, " ", as.character(fit), " ", took[1])
  paste0('{"spec":"', spec, '","cpu":', number(sum(took[1:2])), ",", said(fit, if (frequency(y) > 1) 2 * frequency(y) else 10, NULL), "}")
}
waves <- function(y, K) {
  fit <- tryCatch(auto.arima(y, xreg = fourier(y, K), seasonal = FALSE), error = function(e) NULL)
  if (!is.null(fit)) paste0('{"k":', K, ",", said(fit, 2 * frequency(y), fourier(y, K, h = 2 * frequency(y))), "}")
}
unit <- function(y) {
  y <- as.numeric(na.omit(c(y)))
  list <- list(urca::ur.df(y, type = "drift"), urca::ur.df(y, type = "trend"), urca::ur.pp(y, type = "Z-tau"), urca::ur.pp(y, type = "Z-tau", model = "trend"))
  row(c(vapply(list, function(t) t@teststat[1], 0), ndiffs(y, test = "adf"), ndiffs(y, test = "pp")))
}
rows <- function(x) paste0("[", paste(unlist(x), collapse = ",\n"), "]")
args <- commandArgs(TRUE)
out <- character(0)
for (name in if (length(args)) args else names(series)) {
  message(name)
  y <- series[[name]]; m <- frequency(y)
  out <- c(out, paste0('"', name, '":{"unit":', unit(y), ',"fixed":', rows(lapply(if (m > 1) seasonal else plain, function(s) one(y, s))),
    ',"auto":', rows(lapply(c("default", "log", "gaps", "exact", "all"), function(s) auto(y, s))),
    ',"waves":', rows(if (m > 1 && length(y) < 200 && !any(is.na(y))) lapply(1:min(6, m %/% 2), function(K) waves(y, K))), "}"))
}
cat("{", paste(out, collapse = ",\n"), "}\n", sep = "")
