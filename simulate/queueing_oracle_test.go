package simulate_test

import "math"

// The closed forms of this file hold for jobs of one GPU each that come at
// random (Poisson arrivals); gangs break all of them. They are yardsticks for
// the simulator and first guesses for the search, no replacement for either.
//
// Throughout, load is the mean number of GPUs that the jobs would hold were
// there room for all (arrival rate times mean run time, in erlangs), and a
// share of prices is what a committed GPU-hour costs over what the same hour
// costs on demand.

// ErlangB is the share of jobs that find all k GPUs held and leave, by the
// recursion B(0) = 1, B(k) = a B(k-1) / (k + a B(k-1)), which is stable for any
// k (Erlang 1917; insensitive to how run times are spread, Sevastyanov 1957).
// It takes k steps. With fewer than no GPUs it is 1.
func ErlangB(k int, load float64) float64 {
	b := 1.0
	for i := 1; i <= k; i++ {
		b = nextB(i, load, b)
	}
	return b
}

// nextB is B(k) from B(k-1).
func nextB(k int, load, b float64) float64 { return load * b / (float64(k) + load*b) }

// carriedBy is what the k-th GPU carries, a (B(k-1) - B(k)), written so that
// two nearly equal numbers are not taken from each other; b is B(k-1).
func carriedBy(k int, load, b float64) float64 {
	return load * b * (float64(k) - load*(1-b)) / (float64(k) + load*b)
}

// Carried is the load that the k-th GPU carries where a job that finds none
// free goes elsewhere: a (B(k-1) - B(k)). It falls in k, and the k-th GPU is
// worth committing to while it is above the share of prices.
func Carried(k int, load float64) float64 {
	if k < 1 {
		return 0
	}
	return carriedBy(k, load, ErlangB(k-1, load))
}

// LossCost is the cost of an hour of k committed GPUs at the share of prices,
// with all that does not fit bought at 1 the GPU-hour.
func LossCost(k int, load, share float64) float64 {
	return share*float64(k) + load*ErlangB(k, load)
}

// BestLoss is the number of GPUs to commit to where no job waits and one that
// began on demand stays there (M/G/k/k), and its cost by the hour in units of
// the on-demand price. Of equal costs it takes the fewer GPUs.
func BestLoss(load, share float64) (k int, cost float64) {
	if share <= 0 {
		return math.MaxInt, 0
	}
	b := 1.0
	for carriedBy(k+1, load, b) > share {
		k++
		b = nextB(k, load, b)
	}
	return k, share*float64(k) + load*b
}

// BusyAtLeast is the chance that at least k GPUs are wanted at once where there
// is room for all (M/G/inf: Poisson with mean load). A k-th GPU that work moves
// to as soon as it is free is worth committing to while this is above the share
// of prices.
func BusyAtLeast(k int, load float64) float64 {
	switch {
	case k <= 0:
		return 1
	case load <= 0:
		return 0
	case float64(k) <= load:
		return 1 - poissonSum(k-1, load, -1)
	}
	return poissonSum(k, load, 1)
}

// poissonSum sums the Poisson chances from k away from the mean, upwards or
// downwards, until they no longer count.
func poissonSum(k int, load float64, step int) float64 {
	term := poissonProb(k, load)
	sum := term
	for i := k; term > sum*1e-17; {
		if step > 0 {
			i++
			term *= load / float64(i)
		} else {
			if i == 0 {
				break
			}
			term *= float64(i) / load
			i--
		}
		sum += term
	}
	return min(1, sum)
}

// poissonProb is the chance of exactly k, from the distance of k from the mean
// (Loader, "Fast and Accurate Computation of Binomial Probabilities", 2000):
// no large logarithms are taken from each other, so it keeps its digits for
// means in the millions.
func poissonProb(k int, mean float64) float64 {
	if k == 0 {
		return math.Exp(-mean)
	}
	n := float64(k)
	return math.Exp(-stirlingError(n)-deviance(n, mean)) / math.Sqrt(2*math.Pi*n)
}

// stirlingError is ln n! less Stirling's formula.
func stirlingError(n float64) float64 {
	if n < 16 {
		lg, _ := math.Lgamma(n + 1)
		return lg - (n+0.5)*math.Log(n) + n - 0.5*math.Log(2*math.Pi)
	}
	s := n * n
	return (1./12 - (1./360-(1./1260-(1./1680-1./(1188*s))/s)/s)/s) / n
}

// deviance is x ln(x/m) + m - x without loss of digits where x is near m.
func deviance(x, m float64) float64 {
	if math.Abs(x-m) >= 0.1*(x+m) {
		return x*math.Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	sum, term := (x-m)*v, 2*x*v
	for j := 1; j < 1000; j++ {
		term *= v * v
		next := sum + term/float64(2*j+1)
		if next == sum {
			return sum
		}
		sum = next
	}
	return sum
}

// BestFloating is the number of GPUs to commit to where every hour of use, by
// whatever job, takes the committed price while any is left (M/G/inf), and its
// cost by the hour in units of the on-demand price.
func BestFloating(load, share float64) (k int, cost float64) {
	if share <= 0 {
		return math.MaxInt, 0
	}
	cost = load
	for {
		used := BusyAtLeast(k+1, load)
		if used <= share {
			return k, cost
		}
		k++
		cost += share - used
	}
}
