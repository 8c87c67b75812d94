package simulate_test

import "math"

// ErlangC is the chance that a job has to wait for one of k GPUs when all wait
// as long as they must (M/M/k): k B / (k - a (1 - B)). Where the load is no
// less than k, every job waits in the end, and it is 1.
func ErlangC(k int, load float64) float64 {
	if k <= 0 || load >= float64(k) {
		return 1
	}
	b := ErlangB(k, load)
	return float64(k) * b / (float64(k) - load*(1-b))
}

// MeanWait is the mean wait for one of k GPUs in units of the mean run time
// (M/M/k): C / (k - a). Where the load is no less than k the queue grows
// without end, and it is infinite.
func MeanWait(k int, load float64) float64 {
	if load >= float64(k) {
		return math.Inf(1)
	}
	return ErlangC(k, load) / (float64(k) - load)
}

// WaitOver is the chance of waiting longer than t mean run times for one of k
// GPUs (M/M/k): C e^(-(k-a) t).
func WaitOver(k int, load, t float64) float64 {
	if load >= float64(k) {
		return 1
	}
	return ErlangC(k, load) * math.Exp(-(float64(k)-load)*max(t, 0))
}

// WaitQuantile is the wait, in mean run times, that a share p of the jobs does
// not pass (M/M/k); 0 where that many do not wait at all, and infinite where
// the queue grows without end or p is 1.
func WaitQuantile(k int, load, p float64) float64 {
	if load >= float64(k) || p >= 1 {
		return math.Inf(1)
	}
	return max(0, math.Log(ErlangC(k, load)/(1-p))/(float64(k)-load))
}

// MeanWaitApprox is the mean wait where run times are spread otherwise than in
// M/M/k: (1 + cv2) / 2 times that of M/M/k, cv2 being the squared coefficient
// of variation of the run times (Lee and Longton 1959). It is exact for one GPU
// (Pollaczek-Khinchine) and for cv2 = 1, and an approximation for all else.
func MeanWaitApprox(k int, load, cv2 float64) float64 {
	return (1 + cv2) / 2 * MeanWait(k, load)
}

// Patient is a queue of jobs of one GPU for k committed GPUs in which a job
// that has waited for Patience mean run times goes elsewhere (M/M/k with a
// fixed patience; the waiting policy AJW-T of Ambati et al., "Waiting Game",
// SC 2020).
type Patient struct {
	K        int
	Load     float64
	Patience float64 // in mean run times; 0 is nobody waits, infinite is all do
}

// PatientWait is what becomes of the jobs of such a queue.
type PatientWait struct {
	Burst       float64 // share of the jobs that go elsewhere
	Utilisation float64 // of the k GPUs
	MeanServed  float64 // mean wait of those that do not go, in mean run times
}

// Wait solves the queue by the density of the virtual wait: with p the chance
// that exactly k-1 GPUs are held, waits x come with density
// a p e^((a-k) x) below the patience T and a p e^(aT - kx) above, and the chance
// of j < k GPUs held goes as a^j / j!; all sum to 1 (after Barrer 1957, Baccelli
// and Hebuterne 1981). The share that goes elsewhere is
// a p e^((a-k) T) / k: Erlang's B for T = 0, and with T infinite none go while
// the load is under k.
func (q Patient) Wait() PatientWait {
	if q.K <= 0 {
		return PatientWait{Burst: 1}
	}
	if q.Load <= 0 {
		return PatientWait{}
	}
	return q.solve(ErlangB(q.K-1, q.Load))
}

// solve is Wait with b, Erlang's B for K-1 GPUs, given: the sum of the chances
// of fewer than K GPUs held is 1/b in units of p.
func (q Patient) solve(b float64) PatientWait {
	k, a, t := float64(q.K), q.Load, max(q.Patience, 0)
	if math.IsInf(t, 1) {
		if a >= k {
			return PatientWait{Burst: 1 - k/a, Utilisation: 1, MeanServed: math.Inf(1)}
		}
		c := ErlangC(q.K, a)
		return PatientWait{Utilisation: a / k, MeanServed: c / (k - a)}
	}
	// The density is taken in units of its value at its higher end, 0 or T, so
	// that nothing overflows however long the patience.
	d := (a - k) * t
	scale, beyond := math.Exp(-max(d, 0)), a/k*math.Exp(min(d, 0))
	whole := scale/b + a*t*areaUnder(d) + beyond
	burst := beyond / whole
	out := PatientWait{Burst: burst, Utilisation: a * (1 - burst) / k}
	if burst < 1 {
		out.MeanServed = a * t * t * rampUnder(d) / whole / (1 - burst)
	}
	return out
}

// areaUnder is the integral of e^(yx) over [0, 1], over the larger of 1 and e^y.
func areaUnder(y float64) float64 {
	if y == 0 {
		return 1
	}
	return -math.Expm1(-math.Abs(y)) / math.Abs(y)
}

// rampUnder is the integral of x e^(yx) over [0, 1], over the larger of 1 and
// e^y.
func rampUnder(y float64) float64 {
	switch {
	case y > 0.5:
		return (y - 1 + math.Exp(-y)) / (y * y)
	case y < -0.5:
		return ((y-1)*math.Exp(y) + 1) / (y * y)
	}
	sum, term := 0.0, math.Exp(-max(y, 0))
	for n := range 30 { // y^n / (n! (n + 2))
		sum += term / float64(n+2)
		term *= y / float64(n+1)
	}
	return sum
}

// BestPatient is the number of GPUs to commit to where jobs wait up to the
// patience before they go on demand, and its cost by the hour in units of the
// on-demand price: share k + a burst(k). It looks at every k that could be
// best; of equal costs it takes the fewer GPUs.
func BestPatient(load, patience, share float64) (k int, cost float64) {
	if share <= 0 {
		return math.MaxInt, 0
	}
	cost = load
	b := 1.0 // B(i-1)
	for i := 1; share*float64(i) < cost; i++ {
		w := Patient{i, load, patience}.solve(b)
		if c := share*float64(i) + load*w.Burst; c < cost {
			k, cost = i, c
		}
		b = nextB(i, load, b)
	}
	return k, cost
}
