package mig_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate/mig"
)

// drawMix draws up to most instances of a GPU.
func drawMix(rng *rand.Rand, g *mig.GPU, most int) []int {
	mix := make([]int, 1+rng.IntN(most))
	for i := range mix {
		mix[i] = rng.IntN(len(g.Profiles))
	}
	return mix
}

func namesOf(g *mig.GPU, mix []int) (names []string) {
	for _, p := range mix {
		names = append(names, g.Profiles[p].Name)
	}
	return names
}

// canPlace tries every start of every instance: a number in a mixed base counts through all assignments.
func canPlace(g *mig.GPU, mix []int) bool {
	compute, media, count := 0, 0, map[int]int{}
	all := 1
	for _, p := range mix {
		k := &g.Profiles[p]
		compute += k.Compute
		if k.Media {
			media++
		}
		if count[p]++; count[p] > k.Most {
			return false
		}
		all *= len(k.Starts)
	}
	if compute > g.Compute || media > 1 {
		return false
	}
	for code := range all {
		var taken [8]bool
		good := true
		for _, p := range mix {
			k := &g.Profiles[p]
			at := k.Starts[code%len(k.Starts)]
			code /= len(k.Starts)
			for m := at; m < at+k.Memory; m++ {
				good = good && m < g.Memory && !taken[m]
				if m < 8 {
					taken[m] = true
				}
			}
		}
		if good {
			return true
		}
	}
	return false
}

func findGPU(t *testing.T, name string) *mig.GPU {
	t.Helper()
	g, err := mig.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A mix is placeable if some assignment of starts, of all there are, has no overlap; and the starts that
// Place gives are such an assignment.
func TestPlaceAgainstAllAssignments(t *testing.T) {
	rng := capcli.Seed(1).Stream("mig/place")
	placeable := 0
	for _, name := range mig.Names() {
		g := findGPU(t, name)
		for range 150 {
			mix := drawMix(rng, g, 5)
			want := canPlace(g, mix)
			if got := g.Check(mix) == mig.Fits; got != want {
				t.Fatalf("%s %v: placeable %v, want %v", name, namesOf(g, mix), got, want)
			}
			if !want {
				continue
			}
			placeable++
			var s mig.Layout
			for i, at := range g.Place(mix) {
				if !g.IsFree(&s, mix[i], at) {
					t.Fatalf("%s %v: starts %v overlap", name, namesOf(g, mix), g.Place(mix))
				}
				g.Make(&s, mix[i], at)
			}
		}
	}
	if placeable < 100 {
		t.Errorf("only %d drawn mixes are placeable", placeable)
	}
}

// What was made can be removed in any order, and leaves an empty GPU.
func TestRemove(t *testing.T) {
	rng := capcli.Seed(2).Stream("mig/remove")
	g := findGPU(t, "H100-80GB")
	for range 200 {
		mix := drawMix(rng, g, 7)
		starts, _ := g.Line(mix, false)
		var s mig.Layout
		for i, at := range starts {
			g.Make(&s, mix[i], at)
		}
		for _, i := range rng.Perm(len(starts)) {
			g.Remove(&s, mix[i], starts[i])
		}
		if s != (mig.Layout{}) {
			t.Fatalf("%v: %+v is left", namesOf(g, mix), s)
		}
	}
}

// fewest finds the fewest GPUs by trying, for each instance in turn, every GPU that has begun and one new
// one.
func fewest(g *mig.GPU, mix []int) int {
	best := len(mix)
	var gpus [][]int
	var grow func(i int)
	grow = func(i int) {
		if len(gpus) >= best {
			return
		}
		if i == len(mix) {
			best = len(gpus)
			return
		}
		for k := range gpus {
			if with := append(slices.Clone(gpus[k]), mix[i]); canPlace(g, with) {
				old := gpus[k]
				gpus[k] = with
				grow(i + 1)
				gpus[k] = old
			}
		}
		gpus = append(gpus, []int{mix[i]})
		grow(i + 1)
		gpus = gpus[:len(gpus)-1]
	}
	grow(0)
	return best
}

func TestPackAgainstAllPartitions(t *testing.T) {
	rng := capcli.Seed(3).Stream("mig/pack")
	for _, name := range []string{"A100-40GB", "A30-24GB"} {
		g := findGPU(t, name)
		for range 40 {
			mix := drawMix(rng, g, 7)
			gpus, _, proved := g.Pack(mix)
			if want := fewest(g, mix); len(gpus) != want || !proved {
				t.Errorf("%s %v: %d GPUs (proved %v), want %d", name, namesOf(g, mix), len(gpus), proved, want)
			}
		}
	}
}

// Large fleets: the answer holds every instance once, is between the bound and largest first, and the
// search says whether it has proved it.
func TestPackLarge(t *testing.T) {
	rng := capcli.Seed(4).Stream("mig/large")
	proofs := 0
	for range 30 {
		g := findGPU(t, mig.Names()[rng.IntN(len(mig.Names()))])
		mix := drawMix(rng, g, 400)
		gpus, bound, proved := g.Pack(mix)
		most := len(g.LargestFirst(mix))
		if len(gpus) < bound || len(gpus) > most {
			t.Fatalf("%s: %d GPUs, bound %d, largest first %d", g.Name, len(gpus), bound, most)
		}
		if proved {
			proofs++
		}
		for p := range g.Profiles {
			have, want := 0, 0
			for i := range gpus {
				have += gpus[i].Count(p)
			}
			for _, q := range mix {
				if q == p {
					want++
				}
			}
			if have != want {
				t.Fatalf("%s: %d instances of %s, want %d", g.Name, have, g.Profiles[p].Name, want)
			}
		}
	}
	t.Logf("%d of 30 proved", proofs)
	if proofs < 25 {
		t.Errorf("only %d of 30 are proved", proofs)
	}
}

// The three examples of the guide on an A100, "Creating GPU Instances": what the driver's order makes of
// them and what the lowest start makes of them differ.
func TestDriverOrder(t *testing.T) {
	for _, c := range []struct {
		mix            []string
		lowest, driver bool
	}{
		{[]string{"1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb"}, true, false},
		{[]string{"3g.20gb", "1g.5gb", "2g.10gb", "1g.5gb"}, false, true},
		{[]string{"3g.20gb", "3g.20gb"}, true, true},
	} {
		r, err := mig.RunFit(&mig.FitRequest{GPU: "A100-40GB", Profiles: c.mix})
		if err != nil {
			t.Fatal(err)
		}
		if lowest, driver := r.Lowest.FailsAt == nil, r.Driver.FailsAt == nil; lowest != c.lowest || driver != c.driver {
			t.Errorf("%v: lowest start first %v, driver %v; want %v, %v", c.mix, lowest, driver, c.lowest, c.driver)
		}
		for _, l := range []*mig.Line{&r.Lowest, r.Driver} {
			if len(l.Order) != len(c.mix) {
				t.Errorf("%v: no order named in which all of it works: %v", c.mix, l.Order)
			}
		}
	}
}

// On every GPU of the table each mix that keeps to the sums, the most instances and the media rule can be
// placed: the starts bind only in order.
func TestTableNeverBindsOffline(t *testing.T) {
	rng := capcli.Seed(5).Stream("mig/table")
	for _, name := range mig.Names() {
		g := findGPU(t, name)
		for range 500 {
			if mix := drawMix(rng, g, 7); g.Check(mix) == mig.NoPlace {
				t.Fatalf("%s %v: no placement", name, namesOf(g, mix))
			}
		}
	}
}

func TestWrongRequests(t *testing.T) {
	for _, q := range []mig.FitRequest{
		{GPU: "A100-80GB"},
		{GPU: "A100", Profiles: []string{"1g.10gb"}},
		{GPU: "A100-80GB", Profiles: []string{"1g.5gb"}},
		{GPU: "A100-80GB", Profiles: []string{"1g.10gb=0"}},
		{GPU: "A100-80GB", Profiles: []string{"1g.10gb=4x"}},
		{GPU: "A100-80GB", Profiles: []string{"1g.10gb=10000", "1g.10gb"}},
	} {
		if r, err := mig.RunFit(&q); err == nil {
			t.Errorf("%+v: got %+v, want an error", q, r)
		}
	}
}

// Two 3g leave a compute slice that nothing can take; seven 1g leave none.
func TestStranded(t *testing.T) {
	for _, c := range []struct {
		mix  []string
		want int
	}{
		{[]string{"3g.40gb", "3g.40gb"}, 1},
		{[]string{"1g.20gb=4"}, 3},
		{[]string{"1g.10gb=7"}, 0},
		{[]string{"1g.10gb"}, 0},
	} {
		r, err := mig.RunFleet(&mig.FleetRequest{GPU: "H100-80GB", Profiles: c.mix})
		if err != nil {
			t.Fatal(err)
		}
		if r.Stranded != c.want || r.FewestGPUs != 1 {
			t.Errorf("%v: %d compute slices stranded on %d GPUs, want %d on 1", c.mix, r.Stranded, r.FewestGPUs, c.want)
		}
	}
}
