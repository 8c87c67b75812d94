package queueing

import (
	"fmt"
	"math"

	"capcli"
)

// checkVariation returns an error that names the field unless x is a squared coefficient of variation.
func checkVariation(field string, x float64) error {
	if !(x >= 0) || math.IsInf(x, 1) {
		return &capcli.RequestError{Field: field, Text: fmt.Sprintf("wants the squared coefficient of variation, 0 or more, found %v", x)}
	}
	return nil
}

// checkLoad checks the rate lam of arrivals and the mean service es at the given number of servers, and
// that the queue has a steady state.
func checkLoad(lam, es, servers float64) error {
	if err := checkPositive("lam", lam); err != nil {
		return err
	}
	if err := checkPositive("es", es); err != nil {
		return err
	}
	if load := lam * es / servers; !(load < 1) {
		return &capcli.RequestError{
			Field: "lam", Text: fmt.Sprintf("wants less than %v arrivals a second, which are served at most, found %v (load %.4g)", servers/es, lam, load),
			Hint: "at a load of 1 and more the queue grows without end: add servers",
		}
	}
	return nil
}

// MG1Wait returns the mean wait in seconds of the queue M/G/1 by Pollaczek and Khinchine:
//
//	W = lam·es²·(1 + cs2) / (2·(1 - lam·es))
//
// where lam is the rate of arrivals in a second, es the mean service in seconds and cs2 its squared
// coefficient of variation: 0 is M/D/1 and 1 is M/M/1 (Kleinrock, "Queueing Systems" I, section 5.6).
func MG1Wait(lam, es, cs2 float64) (float64, error) {
	if err := checkLoad(lam, es, 1); err != nil {
		return 0, err
	}
	if err := checkVariation("cs2", cs2); err != nil {
		return 0, err
	}
	load := lam * es
	return load * es * (1 + cs2) / (2 * (1 - load)), nil
}

// MD1Wait returns the mean wait in seconds of the queue M/D/1, whose services all take es seconds.
func MD1Wait(lam, es float64) (float64, error) { return MG1Wait(lam, es, 0) }

// PSResponse returns the mean time in seconds from arrival to departure of the queue M/G/1-PS, where all
// that are present share the server: es / (1 - lam·es), whatever the law of service (Kleinrock, "Queueing
// Systems" II, section 4.4).
func PSResponse(lam, es float64) (float64, error) {
	if err := checkLoad(lam, es, 1); err != nil {
		return 0, err
	}
	return es / (1 - lam*es), nil
}

// maxServers limits the servers of a queue: the recursion of Erlang takes a step for each.
const maxServers = 10_000_000

// MMkWaiting returns the probability that an arrival of the queue M/M/k waits, by Erlang's formula C. With
// a = lam·es it follows from Erlang's formula B, whose recursion is stable for every k:
//
//	B(0) = 1,  B(j) = a·B(j-1) / (j + a·B(j-1)),  C = B(k) / (1 - a/k·(1 - B(k)))
func MMkWaiting(lam, es float64, k int) (float64, error) {
	if k < 1 || k > maxServers {
		return 0, &capcli.RequestError{Field: "k", Text: fmt.Sprintf("wants servers between 1 and %d, found %d", maxServers, k)}
	}
	if err := checkLoad(lam, es, float64(k)); err != nil {
		return 0, err
	}
	a, b := lam*es, 1.0
	for j := 1; j <= k; j++ {
		b = a * b / (float64(j) + a*b)
	}
	load := a / float64(k)
	return b / ((1 - load) + load*b), nil
}

// MMkWait returns the mean wait in seconds of the queue M/M/k: C / (k/es - lam).
func MMkWait(lam, es float64, k int) (float64, error) {
	c, err := MMkWaiting(lam, es, k)
	if err != nil {
		return 0, err
	}
	return c / (float64(k)/es - lam), nil
}

// GGkWait returns the mean wait in seconds of the queue G/G/k as Allen and Cunneen approximate it: that of
// M/M/k times (ca2 + cs2)/2, the mean of the squared coefficients of variation of the times between
// arrivals and of service. ca2 is 1 for M/G/k (Allen, "Probability, Statistics and Queueing Theory").
func GGkWait(lam, es float64, k int, ca2, cs2 float64) (float64, error) {
	if err := checkVariation("ca2", ca2); err != nil {
		return 0, err
	}
	if err := checkVariation("cs2", cs2); err != nil {
		return 0, err
	}
	w, err := MMkWait(lam, es, k)
	return w * (ca2 + cs2) / 2, err
}

// Bulk is the steady state of a server of batches.
type Bulk struct {
	Root     float64 `json:"root"`
	InSystem float64 `json:"in_system"` // mean number present
	Response float64 `json:"response"`  // mean seconds from arrival to departure
}

// BulkService returns the steady state of the queue M/M[1,K]/1: one server takes up to most of those that
// are present as a batch, later arrivals may join it while it is smaller, and mu batches a second are done.
// With r the root in (0, 1) of
//
//	mu·r^(K+1) - (lam + mu)·r + lam = 0
//
// the mean number present is r/(1 - r) (Gross and Harris, "Fundamentals of Queueing Theory", bulk service).
func BulkService(lam, mu float64, most int) (Bulk, error) {
	if err := checkPositive("mu", mu); err != nil {
		return Bulk{}, err
	}
	if most < 1 || most > maxServers {
		return Bulk{}, &capcli.RequestError{Field: "K", Text: fmt.Sprintf("wants a batch between 1 and %d, found %d", maxServers, most)}
	}
	if err := checkLoad(lam, 1/mu, float64(most)); err != nil {
		return Bulk{}, err
	}
	r, s := bulkRoot(lam/mu, float64(most))
	l := r / s
	return Bulk{Root: r, InSystem: l, Response: l / lam}, nil
}

// bulkRoot returns the root r in (0, 1) and s = 1 - r. Without the root 1 the equation says
//
//	a = r + r² + … + r^K = r·(1 - r^K)/(1 - r),  a = lam/mu
//
// whose right side rises with r. It is bisected in the logarithm of the lesser of r and s, so that neither
// loses digits at a load near 0 or 1.
func bulkRoot(a, most float64) (r, s float64) {
	if a <= 1 {
		r = bisectLog(func(r float64) bool { return r*-math.Expm1(most*math.Log(r))/(1-r) >= a })
		return r, 1 - r
	}
	s = bisectLog(func(s float64) bool { return (1-s)*-math.Expm1(most*math.Log1p(-s))/s <= a })
	return 1 - s, s
}

// bisectLog returns the least x in (1e-300, 1) for which reached is true; reached never goes back to false.
func bisectLog(reached func(x float64) bool) float64 {
	lo, hi := math.Log(1e-300), -1e-17
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if reached(math.Exp(mid)) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return math.Exp(hi)
}
