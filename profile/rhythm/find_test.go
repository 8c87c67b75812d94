package rhythm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// world makes the samples of a window: a job whose step is period seconds long, of which a share computes.
type world struct {
	period, duty, jitter, noise, drift, missing float64
	high, low                                   float64
	every                                       float64
	gapAt, gapFor                               float64 // a pause, in seconds
}

// fill draws the window: means over each sample, as the sensors have them.
func (o world) fill(w *Window, rng *rand.Rand) {
	if o.every == 0 {
		o.every = 1
	}
	micros := int64(o.every * 1e6)
	length := Length(micros)
	w.Begin(length, micros)
	const fine = 50 // parts of a sample
	phase := rng.Float64()
	step := o.period
	ar := 0.0
	for i := range int(length / micros) {
		sum := 0.0
		for range fine {
			if phase += o.every / fine / step; phase >= 1 {
				phase--
				step = o.period * (1 + o.jitter*rng.NormFloat64())
			}
			v := o.low
			if phase < o.duty {
				v = o.high
			}
			sum += v
		}
		v := sum / fine
		if t := float64(i) * o.every; o.gapFor > 0 && t >= o.gapAt && t < o.gapAt+o.gapFor {
			v = 2
		}
		ar = ar*math.Exp(-o.every/20) + o.drift*math.Sqrt(1-math.Exp(-o.every/10))*rng.NormFloat64()
		v += ar + o.noise*rng.NormFloat64()
		if rng.Float64() < o.missing {
			continue
		}
		at := w.Slot(int64(i) * micros)
		w.Set(at, SM, min(max(v, 0), 100))
		w.Set(at, Power, 120+4*v+5*rng.NormFloat64())
	}
}

func TestPeriodIsFound(t *testing.T) {
	tests := []struct {
		name  string
		o     world
		least float64 // share of windows that are right
	}{
		{"plain 8 s", world{period: 8, duty: 0.7, high: 90, low: 20, noise: 2}, 0.99},
		{"2.7 s", world{period: 2.7, duty: 0.6, high: 90, low: 20, noise: 2}, 0.95},
		{"3.3 s jitter", world{period: 3.3, duty: 0.6, high: 90, low: 20, noise: 2, jitter: 0.02}, 0.95},
		{"short collective", world{period: 12.4, duty: 0.92, high: 88, low: 15, noise: 3}, 0.95},
		{"drift", world{period: 6.1, duty: 0.7, high: 80, low: 40, noise: 3, drift: 10}, 0.95},
		{"missing", world{period: 9.7, duty: 0.6, high: 85, low: 30, noise: 3, missing: 0.15}, 0.95},
		{"long", world{period: 48, duty: 0.85, high: 85, low: 10, noise: 3}, 0.9},
		{"jitter 5 %", world{period: 7.3, duty: 0.6, high: 85, low: 25, noise: 3, jitter: 0.05}, 0.8},
		{"weak", world{period: 10, duty: 0.8, high: 80, low: 70, noise: 4}, 0.9},
		{"checkpoint", world{period: 5.2, duty: 0.7, high: 85, low: 20, noise: 3, gapAt: 140, gapFor: 20}, 0.9},
		{"4 Hz", world{period: 1.3, duty: 0.7, high: 85, low: 20, noise: 3, every: 0.25}, 0.95},
		{"pulse", world{period: 20, duty: 0.1, high: 95, low: 1, noise: 1}, 0.9},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := tt.o
			rng := rand.New(rand.NewPCG(1, 2))
			var w Window
			var f Finder
			const tries = 100
			right, none, worst := 0, 0, 0.0
			var wrong []string
			for range tries {
				o.fill(&w, rng)
				got := f.Find(&w)
				off := math.Abs(got.Period/o.period - 1)
				switch {
				case got.Period == 0:
					none++
				case off < max(0.02, o.jitter*0.6):
					right++
					worst = max(worst, off)
				default:
					wrong = append(wrong, fmt.Sprintf("%.2f", got.Period))
				}
			}
			t.Logf("%d right (to %.2f %%), %d without, wrong %v", right, 100*worst, none, wrong)
			if float64(right) < tt.least*tries || len(wrong) > tries/20 {
				t.Errorf("%d of %d right, %d wrong: %v", right, tries, len(wrong), wrong)
			}
		})
	}
}

func TestNoiseHasNoPeriod(t *testing.T) {
	tests := []struct {
		name string
		next func(rng *rand.Rand) func() float64
	}{
		{"white", func(rng *rand.Rand) func() float64 { return func() float64 { return 60 + 8*rng.NormFloat64() } }},
		{"drifting", func(rng *rand.Rand) func() float64 {
			v := 0.0
			return func() float64 { v = 0.95*v + 2*rng.NormFloat64(); return 60 + v }
		}},
		{"random walk", func(rng *rand.Rand) func() float64 {
			v := 50.0
			return func() float64 { v = min(max(v+2*rng.NormFloat64(), 0), 100); return v }
		}},
		{"bursts at random", func(rng *rand.Rand) func() float64 {
			on := false
			return func() float64 {
				if rng.Float64() < 0.15 {
					on = !on
				}
				if on {
					return 80 + 3*rng.NormFloat64()
				}
				return 3
			}
		}},
		{"requests", func(rng *rand.Rand) func() float64 {
			left := 0.0
			return func() float64 {
				for rng.Float64() < 0.3 {
					left += 0.5 * rng.ExpFloat64()
				}
				v := min(1, left)
				left -= v
				return 70*v + rng.NormFloat64()
			}
		}},
		{"one pause", func(rng *rand.Rand) func() float64 {
			at, i := rng.IntN(250), 0
			return func() float64 {
				if i++; i > at && i < at+30 {
					return 2
				}
				return 85 + 2*rng.NormFloat64()
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			var w Window
			var f Finder
			const tries = 1000
			wrong := 0
			for range tries {
				w.Begin(300_000_000, 1_000_000)
				next := tt.next(rng)
				for i := range 300 {
					v := min(max(next(), 0), 100)
					at := w.Slot(int64(i) * 1_000_000)
					w.Set(at, SM, v)
					w.Set(at, Power, 100+4*v+6*rng.NormFloat64())
				}
				if f.Find(&w).Period > 0 {
					wrong++
				}
			}
			t.Logf("%d of %d", wrong, tries)
			if wrong > tries/100 {
				t.Errorf("%d of %d windows of noise have a period", wrong, tries)
			}
		})
	}
}

// TestImages: a step under two samples is folded, and such a period is never sure.
func TestImages(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var w Window
	var f Finder
	seen := 0
	for _, period := range []float64{0.35, 0.6, 0.85, 0.9, 1.1, 1.2, 1.5, 1.7} {
		for range 30 {
			world{period: period, duty: 0.5, high: 100, low: 0, noise: 1}.fill(&w, rng)
			got := f.Find(&w)
			if got.Period > 0 {
				seen++
			}
			if got.Sure {
				t.Errorf("a step of %g s is surely %g s", period, got.Period)
			}
			if got.Period > 0 && period > 0.67 {
				if long, short := Images(got.Period, 1); math.Abs(long/period-1) > 0.03 && math.Abs(short/period-1) > 0.03 {
					t.Logf("a step of %g s is seen at %g s, the image of %g and %g", period, got.Period, long, short)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no image was seen: the test tests nothing")
	}
	sure := 0
	for range 30 {
		world{period: 8, duty: 0.6, high: 90, low: 20, noise: 2}.fill(&w, rng)
		if f.Find(&w).Sure {
			sure++
		}
	}
	if sure < 29 {
		t.Errorf("%d of 30 strong steps of 8 s are sure", sure)
	}
}

func BenchmarkFind(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var w Window
	var f Finder
	world{period: 8, duty: 0.7, high: 90, low: 20, noise: 2}.fill(&w, rng)
	b.ReportAllocs()
	for range b.N {
		f.Find(&w)
	}
}
