package change

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"capcli"
)

// TestPELTIsExact holds it against the same least found by trying all.
func TestPELTIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 60 {
		n, least := 20+rng.IntN(40), 1+rng.IntN(4)
		v := make([]float64, n)
		level := 0.0
		for i := range v {
			if rng.IntN(10) == 0 {
				level = 4 * rng.NormFloat64()
			}
			v[i] = level + rng.NormFloat64()
		}
		s, penalty := newStretches(v), 5*rng.Float64()+0.5
		f := make([]float64, n+1)
		for k := 1; k <= n; k++ {
			f[k] = math.Inf(1)
			for at := 0; at+least <= k; at++ {
				if at == 0 || at >= least {
					f[k] = math.Min(f[k], f[at]+s.cost(at, k)+penalty)
				}
			}
		}
		got, from := 0.0, 0
		for _, at := range append(pelt(s, penalty, least), n) {
			if at-from < least {
				t.Fatalf("a stretch of %d, want %d or more", at-from, least)
			}
			got += s.cost(from, at) + penalty
			from = at
		}
		if math.Abs(got-f[n]) > 1e-9 {
			t.Fatalf("cost %v, want the least, %v", got, f[n])
		}
	}
}

func TestChangepointsAreFoundAndNoOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	build := func(n int, ar float64, levels map[int]float64, seasonal, spikes bool) []float64 {
		y := make([]float64, n)
		level, e := 100.0, 0.0
		for i := range y {
			if l, ok := levels[i]; ok {
				level = l
			}
			e = ar*e + math.Sqrt(1-ar*ar)*rng.NormFloat64()
			y[i] = level + 4*e
			if seasonal {
				y[i] += 15 * math.Sin(2*math.Pi*float64(i)/24)
			}
			if spikes && rng.IntN(60) == 0 {
				y[i] += 80
			}
		}
		return y
	}
	for _, row := range []struct {
		name  string
		y     []float64
		want  []int
		slack int
	}{
		{"noise", build(1000, 0, nil, false, false), nil, 0},
		{"lingering noise", build(1000, 0.8, nil, false, false), nil, 0},
		{"one step", build(400, 0, map[int]float64{150: 120}, false, false), []int{150}, 2},
		{"two steps, day, spikes", build(24*40, 0.3, map[int]float64{300: 130, 700: 90}, true, true), []int{300, 700}, 5},
		{"step in lingering noise", build(1000, 0.7, map[int]float64{500: 125}, false, false), []int{500}, 6},
		{"spikes only", build(1000, 0, nil, false, true), nil, 0},
		{"long", build(20000, 0, map[int]float64{12345: 105}, false, false), []int{12345}, 20},
		{"slope", slope(build(800, 0.3, nil, true, false), 0.05), nil, 0},
		{"no slope but a step", build(800, 0.3, map[int]float64{200: 125}, true, false), []int{200}, 4},
	} {
		got, err := findChangepoints(capcli.Series{Values: row.y}, []int{24})
		if err != nil {
			t.Fatal(row.name, err)
		}
		same := len(got) == len(row.want)
		for k := range min(len(got), len(row.want)) {
			same = same && got[k].Index >= row.want[k]-row.slack && got[k].Index <= row.want[k]+row.slack && got[k].Gain > 1
		}
		if !same {
			t.Errorf("%s: changes %+v, want at %v", row.name, got, row.want)
		}
		t.Logf("%s: %+v", row.name, got)
	}
}

func slope(y []float64, by float64) []float64 {
	for i := range y {
		y[i] += by * float64(i)
	}
	return y
}

func TestChangepointsTakeAnything(t *testing.T) {
	for name, y := range map[string][]float64{
		"constant": slices.Repeat([]float64{5}, 50),
		"nought":   make([]float64, 50),
		"short":    {1, 2, 3},
		"two flat": append(slices.Repeat([]float64{1}, 30), slices.Repeat([]float64{9}, 30)...),
		"huge":     append(slices.Repeat([]float64{1e200}, 30), slices.Repeat([]float64{-9e200}, 30)...),
		"tiny":     append(slices.Repeat([]float64{1e-200}, 30), slices.Repeat([]float64{9e-200}, 30)...),
	} {
		got, err := findChangepoints(capcli.Series{Values: y}, []int{4})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if two := len(y) == 60; two != (len(got) == 1) || two && got[0].Index != 30 {
			t.Errorf("%s: changes %+v", name, got)
		}
	}
}
