package gang

import (
	"math"
	"math/rand/v2"
	"testing"
)

// world plays a synchronous gang, step by step: each rank waits for its input, computes, and spins in a kernel until
// the last has come; then all exchange.
type world struct {
	ranks   int
	hours   int
	compute float64         // seconds of a step at full clocks
	jitter  float64         // of a rank's step, as a share
	common  float64         // of all ranks' steps together
	sm      float64         // percent of SMs active while computing
	noise   float64         // of the SM figure, points from minute to minute
	offset  float64         // of the SM figure, points, of each device for good
	slow    map[int]float64 // ranks that compute so much longer
	input   map[int]float64 // seconds that a rank's input is late
	clock   map[int]float64 // their clocks
	hot     map[int]float64
	from    int // first hour of that
	link    float64
}

func (o world) play(rng *rand.Rand) []Rank {
	out := make([]Rank, o.ranks)
	offset := make([]float64, o.ranks)
	for i := range offset {
		offset[i] = o.offset * rng.NormFloat64()
	}
	for hour := range o.hours {
		var sums, squares [1024]float64
		var utils, sms [1024]float64
		for range 60 {
			var busy, kernel [1024]float64
			total := 0.0
			for total < 60 {
				all := o.compute * (1 + o.common*rng.NormFloat64())
				step := 0.0
				var compute, late [1024]float64
				for i := range o.ranks {
					compute[i] = all * (1 + o.jitter*rng.NormFloat64())
					if hour >= o.from {
						compute[i] *= 1 + o.slow[i]
						late[i] = o.input[i]
					}
					step = max(step, compute[i]+late[i])
				}
				step += 0.1 * o.compute // the exchange itself
				for i := range o.ranks {
					busy[i] += compute[i]
					kernel[i] += step - late[i]
				}
				total += step
			}
			for i := range o.ranks {
				util := math.Round(100 * kernel[i] / total)
				sm := (o.sm*busy[i]+6*(kernel[i]-busy[i]))/total + offset[i] + o.noise*rng.NormFloat64()
				w := max(0, util-sm)
				sums[i], squares[i] = sums[i]+w, squares[i]+w*w
				utils[i], sms[i] = utils[i]+util/60, sms[i]+sm/60
			}
		}
		for i := range o.ranks {
			mean := sums[i] / 60
			h := Hour{Hour: int64(hour), Seconds: 3600, Minutes: 60, Wait: mean, SD: math.Sqrt(max(0, squares[i]/60-mean*mean)), Util: utils[i], SM: sms[i], Clock: 1980, Link: o.link}
			if c := o.clock[i]; c > 0 && hour >= o.from {
				h.Clock = c
			}
			if hour >= o.from {
				h.Hot = o.hot[i]
			}
			out[i].Hours = append(out[i].Hours, h)
		}
	}
	return out
}

func TestStraggler(t *testing.T) {
	base := world{ranks: 8, hours: 4, compute: 0.8, jitter: 0.02, common: 0.05, sm: 90, noise: 1.5, offset: 0.5, link: 60_000}
	tests := []struct {
		name  string
		o     func(world) world
		rank  int
		cause Cause
		share float64
		cost  float64 // share of the gang's time
	}{
		{"heat", func(o world) world {
			o.slow, o.clock, o.hot = map[int]float64{3: 0.2}, map[int]float64{3: 1600}, map[int]float64{3: 0.8}
			return o
		}, 3, Heat, 1, 0.154},
		{"longer work", func(o world) world { o.slow = map[int]float64{5: 0.15}; return o }, 5, Work, 1, 0.12},
		{"own input", func(o world) world { o.input = map[int]float64{0: 0.25}; return o }, 0, Input, 1, 0.22},
		{"lower clock", func(o world) world {
			o.slow, o.clock = map[int]float64{1: 0.12}, map[int]float64{1: 1700}
			return o
		}, 1, Clock, 1, 0.098},
		{"since an hour", func(o world) world { o.hours, o.from, o.slow = 10, 7, map[int]float64{2: 0.2}; return o }, 2, Work, 0.3, 0.05},
		{"of two", func(o world) world { o.ranks, o.slow = 2, map[int]float64{1: 0.2}; return o }, 1, Work, 1, 0.154},
		{"of 64", func(o world) world { o.ranks, o.slow = 64, map[int]float64{40: 0.2}; return o }, 40, Work, 1, 0.14},
	}
	for _, tt := range tests {
		rng := rand.New(rand.NewPCG(1, 1))
		for range 10 {
			o := tt.o(base)
			got := Judge(o.play(rng))
			cost := got.Seconds / float64(o.ranks*o.hours*3600)
			if got.Rank != tt.rank || got.Cause != tt.cause || math.Abs(got.Share-tt.share) > 0.01 || math.Abs(cost-tt.cost) > 0.025 {
				t.Errorf("%s: %+v, cost %.3f, want rank %d by %s, share %g, cost %g", tt.name, got, cost, tt.rank, tt.cause, tt.share, tt.cost)
				break
			}
		}
	}
}

// TestAlikeRanks: ranks that differ by noise alone have no straggler.
func TestAlikeRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	wrong, tries := 0, 0
	for _, ranks := range []int{2, 3, 4, 8, 32} {
		for _, noise := range []float64{0.3, 1.5, 4} {
			for _, jitter := range []float64{0.01, 0.08} {
				for range 15 {
					o := world{ranks: ranks, hours: 1 + rng.IntN(3), compute: 2, jitter: jitter, common: 0.1, sm: 85, noise: noise, offset: 0.5, link: 9000}
					tries++
					if got := Judge(o.play(rng)); got.Rank >= 0 {
						wrong++
						t.Logf("%d ranks, noise %g, jitter %g: %+v", ranks, noise, jitter, got)
					} else if !got.Alike {
						t.Fatalf("%+v", got)
					}
				}
			}
		}
	}
	if wrong*200 > tries {
		t.Errorf("%d of %d gangs that are alike have a straggler", wrong, tries)
	}
}

// TestCannotTell: what does not work in step, or says too little, has no straggler.
func TestCannotTell(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	base := world{ranks: 4, hours: 2, compute: 1, jitter: 0.02, sm: 90, noise: 1, slow: map[int]float64{1: 0.3}, link: 60_000}
	quiet := base
	quiet.link = 20
	untold := base.play(rng)
	for i := range untold {
		for j := range untold[i].Hours {
			h := &untold[i].Hours[j]
			h.Wait, h.SM = math.NaN(), math.NaN()
		}
	}
	replicas := base.play(rng)
	for i := range replicas {
		for j := range replicas[i].Hours {
			h := &replicas[i].Hours[j]
			h.Util, h.SM = 95, 50
			if i == 2 {
				h.Util, h.SM = 50, 25
			}
			h.Wait = h.Util - h.SM
		}
	}
	short := base.play(rng)
	for i := range short {
		short[i].Hours = short[i].Hours[:1]
		short[i].Hours[0].Minutes = 4
	}
	for name, ranks := range map[string][]Rank{"nothing is exchanged": quiet.play(rng), "SM not told": untold, "replicas": replicas, "short": short, "one": base.play(rng)[:1], "none": nil} {
		if got := Judge(ranks); got.Rank >= 0 || got.Alike || got.Why == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
