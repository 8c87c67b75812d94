package scale

import (
	"math"

	"capcli"
	"capcli/simulate"
)

func init() {
	add("kpa", "the autoscaler of Knative, by concurrency over a stable and a panic window", newKPA,
		Setting{Name: "target", Doc: "demand per unit that it aims at: requests of a step, or GPUs", Lo: 1e-9, Hi: 1e12, Required: true},
		Setting{Name: "stable_window", Doc: "window of the mean that counts without panic; default: 60s", Unit: Length, Default: 60, Lo: 1, Hi: maxSeconds},
		Setting{Name: "panic_percent", Doc: "length of the panic window in percent of the stable one; default: 10", Default: 10, Lo: 0, Hi: 100},
		Setting{Name: "panic_threshold", Doc: "panics where the panic window wants this percentage of the ready units; default: 200", Default: 200, Lo: 0, Hi: 1e9},
		Setting{Name: "max_up", Doc: "highest rise of a decision, as a multiple of the ready units; default: 1000", Default: 1000, Lo: 1, Hi: 1e9},
		Setting{Name: "max_down", Doc: "deepest fall of a decision, as a divisor of the ready units; default: 2", Default: 2, Lo: 1, Hi: 1e9},
		Setting{Name: "grace", Doc: "time without demand beyond the stable window before the last unit goes; default: 30s", Unit: Length, Default: 30, Hi: maxSeconds},
		Setting{Name: "down_delay", Doc: "a fall waits until it was wanted for this long; default: 0s", Unit: Length, Hi: maxSeconds},
	)
}

// kpa is the autoscaler of Knative Serving ("Additional autoscaling configuration for Knative Pod
// Autoscaler", and the published code of the autoscaler). The demand of a step stands for concurrency.
//
//	wanted = ceil(mean/target), within ready/max_down and ready max_up
//
// for the means of the stable and of the panic window. Where the panic window wants panic_threshold of the
// ready units, it panics until that was not so for a stable window: it then takes the greater of the two
// and never falls.
type kpa struct {
	min, max       int
	target         float64
	stable         capcli.Seconds
	panicPart      float64 // of stable
	threshold      float64 // as a ratio
	maxUp, maxDown float64
	grace, delay   capcli.Seconds

	begun     bool
	demand    []int64 // of the last steps of the stable window, a ring
	seen      int     // steps seen
	panicking bool
	since     capcli.Seconds
	most      int     // while panicking
	delayed   []event // wants of the last delay, falling: the first is the greatest
	idle      capcli.Seconds
	last      kpaSight
}

// kpaSight is what the autoscaler saw in a step.
type kpaSight struct {
	stable, panic float64
	desired       int // before limits
}

func newKPA(v *values) (simulate.NewScaler, error) {
	k := kpa{
		min: v.Min, max: v.Max, target: v.number("target") * v.demandUnit(),
		stable: v.seconds("stable_window"), panicPart: v.number("panic_percent"), threshold: v.number("panic_threshold") / 100,
		maxUp: v.number("max_up"), maxDown: v.number("max_down"), grace: v.seconds("grace"), delay: v.seconds("down_delay"),
	}
	return func() simulate.Scaler { own := k; return &own }, nil
}

// Desired implements simulate.Scaler.
func (k *kpa) Desired(s *simulate.ScaleState) int {
	k.begin(s)
	k.demand[k.seen%len(k.demand)] = s.Demand
	k.seen++
	k.idle += s.Length
	if s.Demand > 0 {
		k.idle = 0
	}
	stable := k.mean(len(k.demand))
	short := k.mean(max(1, int(float64(k.stable)*k.panicPart/100/float64(s.Length))))
	d := k.delayFall(s.Now, k.decide(s.Now, max(1, float64(s.Ready)), stable, short))
	k.last = kpaSight{stable, short, d}
	switch {
	case d > 0 || k.min > 0:
		return clamp(d, max(k.min, 1), k.max)
	case s.Ready+s.Loading == 0 || k.idle >= k.stable+k.grace:
		return 0
	}
	return 1
}

// begin prepares the window. As the controller, the scaler panics at the start if there is more than one
// unit.
func (k *kpa) begin(s *simulate.ScaleState) {
	if k.begun {
		return
	}
	k.begun = true
	k.demand = make([]int64, max(1, k.stable/s.Length))
	if n := s.Ready + s.Loading; n > 1 {
		k.panicking, k.since, k.most = true, s.Now-s.Length, n
	}
}

// mean returns the mean demand of the last n steps.
func (k *kpa) mean(n int) float64 {
	n = min(n, k.seen, len(k.demand))
	var total int64
	for i := range n {
		total += k.demand[(k.seen-1-i)%len(k.demand)]
	}
	return float64(total) / float64(n)
}

// decide returns the number of units before limits.
func (k *kpa) decide(now capcli.Seconds, ready, stable, short float64) int {
	up, down := math.Ceil(k.maxUp*ready), math.Floor(ready/k.maxDown)
	wanted := func(mean float64) int {
		return units(min(max(math.Ceil(mean/k.target), down), up))
	}
	switch {
	case math.Ceil(short/k.target)/ready >= k.threshold:
		k.panicking, k.since = true, now
	case k.panicking && k.since+k.stable < now:
		k.panicking, k.most = false, 0
	}
	if !k.panicking {
		return wanted(stable)
	}
	k.most = max(k.most, wanted(stable), wanted(short))
	return k.most
}

// delayFall returns the greatest number that was wanted within the delay.
func (k *kpa) delayFall(now capcli.Seconds, d int) int {
	if k.delay == 0 {
		return d
	}
	for len(k.delayed) > 0 && k.delayed[len(k.delayed)-1].n <= d {
		k.delayed = k.delayed[:len(k.delayed)-1]
	}
	k.delayed = append(k.delayed, event{now, d})
	first := 0
	for k.delayed[first].at <= now-k.delay {
		first++
	}
	k.delayed = k.delayed[:copy(k.delayed, k.delayed[first:])]
	return k.delayed[0].n
}
