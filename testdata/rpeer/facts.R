# Facts that R's forecast package states about textbook series, as JSON on
# standard output: Rscript facts.R | gzip -9n > ../../forecast/testdata/r-facts.json.gz
# R 4.2.2 with forecast 8.20 made what is kept.
suppressPackageStartupMessages(library(forecast))
options(warn = -1)

json <- function(x) {
  if (is.null(x)) return("null")
  if (is.list(x)) {
    x <- x[!vapply(x, is.null, NA)]
    if (is.null(names(x))) return(paste0("[", paste(vapply(x, json, ""), collapse = ","), "]"))
    return(paste0("{", paste0('"', names(x), '":', vapply(x, json, ""), collapse = ","), "}"))
  }
  if (is.character(x)) return(paste0('"', x, '"'))
  if (is.logical(x)) return(tolower(as.character(x)))
  v <- ifelse(is.finite(x), trimws(formatC(as.numeric(x), digits = 9, width = 1, format = "g")), "null")
  if (length(v) == 1 && !inherits(x, "many")) v else paste0("[", paste(v, collapse = ","), "]")
}
many <- function(x) structure(as.numeric(x), class = "many")
at <- function(x) many(x[unique(round(seq(1, length(x), length.out = 7)))])

ahead <- function(f) {
  k <- unique(c(1, 2, length(f$mean) %/% 2, length(f$mean)))
  l <- as.matrix(f$lower); u <- as.matrix(f$upper)
  list(h = length(f$mean), mean = many(f$mean[k]), lo80 = many(l[k, 1]), hi80 = many(u[k, 1]), lo95 = many(l[k, 2]), hi95 = many(u[k, 2]))
}
attempt <- function(e) tryCatch(suppressWarnings(e), error = function(err) NULL)

smooth <- function(fit, h, full = TRUE) {
  if (is.null(fit)) return(NULL)
  out <- list(method = fit$method, loglik = fit$loglik, aicc = fit$aicc)
  if (full) out <- c(out, ahead(forecast(fit, h = h)))
  out
}
stlfacts <- function(s) { t <- s$time.series; list(season = at(t[, 1]), trend = at(t[, 2]), rest = at(t[, 3])) }
refit <- function(z, way, h) {
  inner <- stlm(z, method = way)$model
  c(list(method = if (way == "ets") inner$method else forecast(inner, h = 1)$method, aicc = inner$aicc), ahead(stlf(z, h = h, method = way)))
}
mstlfacts <- function(s) {
  k <- grep("Seasonal", colnames(s))
  list(trend = at(s[, "Trend"]), rest = at(s[, "Remainder"]), seasons = lapply(k, function(i) at(s[, i])))
}

facts <- function(y, seasons = NULL) {
  m <- frequency(y); n <- length(y); whole <- !any(is.na(y)); positive <- min(y, na.rm = TRUE) > 0
  h <- if (m > 1) min(2 * m, 24) else 10
  out <- list(m = m, y = many(y))
  if (!is.null(seasons)) out$seasons <- many(seasons)
  plain <- ts(as.numeric(y), frequency = if (m > 24) 1 else m)
  if (whole) {
    forms <- c("ANN", "AAN", "AAdN", "MNN", "MAN", "MAdN")
    if (m > 1 && m <= 24) forms <- c(forms, "ANA", "AAA", "AAdA", "MNA", "MAA", "MAdA", "MNM", "MAM", "MAdM", "ANM", "AAM", "AAdM")
    if (!positive) forms <- forms[substr(forms, 1, 1) == "A" & substring(forms, nchar(forms)) != "M"]
    ets1 <- function(f) attempt(ets(plain, model = paste0(substr(f, 1, 2), substring(f, nchar(f))), damped = nchar(f) == 4, restrict = FALSE))
    out$ets <- smooth(attempt(ets(plain)), h)
    out$forms <- sapply(forms, function(f) smooth(ets1(f), h, f %in% c("AAdM", "MAdA", "MAN")), simplify = FALSE)
    out$ses <- smooth(attempt(ses(plain, h = h)$model), h)
    out$holt <- smooth(attempt(holt(plain, h = h)$model), h)
    out$damped <- smooth(attempt(holt(plain, h = h, damped = TRUE)$model), h)
    out$theta <- attempt(ahead(thetaf(y, h = h)))
  }
  out$naive <- attempt(ahead(naive(y, h = h)))
  if (m > 1) out$snaive <- attempt(ahead(snaive(y, h = h)))
  out$drift <- attempt(ahead(rwf(y, h = h, drift = TRUE)))
  out$mean <- attempt(ahead(meanf(y, h = h)))
  if (m > 1 && whole && n > 2 * m) {
    out$stl <- lapply(list(list("periodic", FALSE), list(7, FALSE), list(13, TRUE), list("periodic", TRUE), list(35, FALSE)), function(o)
      c(list(window = if (is.numeric(o[[1]])) o[[1]] else 0, robust = o[[2]]), stlfacts(stl(y, s.window = o[[1]], robust = o[[2]]))))
    z <- if (is.null(seasons)) y else msts(y, seasons)
    out$mstl <- mstlfacts(mstl(z))
    if (positive) out$mstl_log <- mstlfacts(mstl(z, lambda = 0))
    for (way in c("ets", "arima")) out[[paste0("stlf_", way)]] <- attempt(refit(z, way, h))
    f <- attempt(HoltWinters(y)); if (!is.null(f)) out$hw_add <- f$SSE
    f <- if (positive) attempt(HoltWinters(y, seasonal = "multiplicative")); if (!is.null(f)) out$hw_mul <- f$SSE
  }
  if (positive) out$lambda <- list(guerrero = attempt(BoxCox.lambda(y, lower = -1)), loglik = attempt(BoxCox.lambda(y, method = "loglik")))
  out$ndiffs <- list(level = ndiffs(y), trend = ndiffs(y, type = "trend"))
  if (m > 1 && m <= 24) out$nsdiffs <- attempt(nsdiffs(y))
  if (whole) out$kpss <- many(c(urca::ur.kpss(as.numeric(y), type = "mu", use.lag = trunc(3 * sqrt(n) / 13))@teststat, urca::ur.kpss(as.numeric(y), type = "tau", use.lag = trunc(3 * sqrt(n) / 13))@teststat))
  if (m > 1 && m <= 24 && n > 2 * m && whole) {
    s <- mstl(y); r <- s[, "Remainder"]; out$strength <- max(0, min(1, 1 - var(r) / var(r + s[, 3])))
  }
  o <- attempt(tsoutliers(if (is.null(seasons)) y else msts(y, seasons)))
  out$outliers <- list(index = many(o$index), replacements = many(o$replacements))
  out$period <- attempt(findfrequency(y))
  out
}
boxed <- function(y) { f <- tbats(y, use.parallel = FALSE); c(list(method = as.character(f), aic = f$AIC), ahead(forecast(f, h = if (frequency(y) > 1) 2 * frequency(y) else 10))) }

series <- list(
  co2 = co2, lynx = ts(as.numeric(lynx)), Nile = ts(as.numeric(Nile)), UKDriverDeaths = UKDriverDeaths, sunspot.year = ts(as.numeric(sunspot.year)),
  austres = austres, nhtemp = ts(as.numeric(nhtemp)), discoveries = ts(as.numeric(discoveries)), uspop = ts(as.numeric(uspop)), airmiles = ts(as.numeric(airmiles)),
  DAX = ts(as.numeric(EuStockMarkets[1:400, "DAX"])), BJsales = ts(as.numeric(BJsales)), JohnsonJohnson = JohnsonJohnson, presidents = presidents,
  USAccDeaths = USAccDeaths, mdeaths = mdeaths, fdeaths = fdeaths, gas = gas, woolyrnq = woolyrnq, wineind = wineind, UKgas = UKgas,
  treering = ts(as.numeric(treering[1:300])), sunspots = ts(as.numeric(sunspots[1:600]), frequency = 12), lh = ts(as.numeric(lh)),
  airquality = ts(airquality$Ozone, frequency = 7), Seatbelts = Seatbelts[, "VanKilled"], trend = BJsales.lead,
  taylor = ts(as.numeric(taylor[1:1344]), frequency = 48))
many_seasons <- list(taylor = c(48, 336))
args <- commandArgs(TRUE)
all <- list()
for (name in if (length(args)) args else names(series)) {
  message(name)
  all[[name]] <- facts(series[[name]], many_seasons[[name]])
}
for (name in intersect(names(all), c("woolyrnq", "USAccDeaths", "fdeaths", "co2", "austres", "lynx", "UKDriverDeaths", "taylor"))) {
  message("tbats ", name)
  y <- series[[name]]
  if (!is.null(many_seasons[[name]])) y <- msts(as.numeric(y)[1:1008], many_seasons[[name]])
  all[[name]]$tbats <- boxed(y)
}
count <- list(a = c(0, 2, 0, 1, 0, 0, 0, 3, 0, 0, 5, 0, 1, 1, 0, 0, 0, 0, 2, 0), b = c(1, 0, 0, 7, 0, 0, 0, 0, 0, 12, 0, 0, 3, 0), c = rep(c(0, 4, 0), 9), d = c(2, 3, 1, 4, 0, 2, 5))
counts <- lapply(count, function(y) list(y = many(y), alpha = many(c(0.1, 0.4)), mean = many(c(croston(y, h = 1)$mean, croston(y, h = 1, alpha = 0.4)$mean))))
cat(json(list(package = as.character(packageVersion("forecast")), series = all, counts = counts)))
