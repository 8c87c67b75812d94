package simulate

import (
	"fmt"
	"strings"
	"testing"
)

// whereOn says where a placement puts l on nodes of eight with so many free
// GPUs: "1:8 3:2" is eight of node 1 and two of node 3.
func whereOn(t *testing.T, placement string, free []int32, l *Live) string {
	t.Helper()
	p, err := Placements.Get(placement)
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster([]Pool{{Name: "all", Nodes: len(free), GPUsPerNode: 8, CPUMilli: 80_000}})
	for n := range c.nodes {
		c.setUp(n, true, false)
		c.setFree(n, free[n])
	}
	var out []string
	for _, s := range p().Place(c, l, []int{0}, nil) {
		out = append(out, fmt.Sprintf("%d:%d", s.Node, s.GPUs))
	}
	return strings.Join(out, " ")
}

func TestPlacements(t *testing.T) {
	holes, worn := []int32{3, 8, 5, 8}, []int32{3, 3, 5, 0}
	for _, c := range []struct {
		placement string
		free      []int32
		gpus      int
		want      string
	}{
		{"first", holes, 3, "0:3"},
		{"first", holes, 4, "1:4"},
		{"first", holes, 10, "1:8 0:2"},
		{"first", worn, 8, ""},
		{"best", holes, 3, "0:3"},
		{"best", holes, 4, "2:4"},
		{"best", holes, 12, "1:8 2:4"},
		{"best", holes, 16, "1:8 3:8"},
		{"best", holes, 17, "1:8 3:8 0:1"},
		{"best", holes, 24, ""},
		{"worst", holes, 3, "1:3"},
		{"worst", holes, 10, "1:8 3:2"},
		{"pack", holes, 4, "2:4"},
		{"pack", holes, 10, "1:8 0:2"},
		{"pack", holes, 24, "1:8 3:8 0:3 2:5"},
		{"pack", worn, 8, "0:3 1:3 2:2"},
		{"consolidate", holes, 4, "2:4"},
		{"consolidate", holes, 10, "1:8 3:2"}, // the next by free GPUs, falling (rule 5)
		{"consolidate", worn, 8, ""},
		{"count", worn, 8, "0:3 1:3 2:2"},
	} {
		t.Run(fmt.Sprintf("%s/%d", c.placement, c.gpus), func(t *testing.T) {
			l := &Live{}
			l.GPUs = c.gpus
			if got := whereOn(t, c.placement, c.free, l); got != c.want {
				t.Errorf("%d GPUs of %v go to %q, want %q", c.gpus, c.free, got, c.want)
			}
		})
	}
}

// A job's CPUs rule nodes out whose GPUs would do, in proportion when it is
// split.
func TestPlacementsCPU(t *testing.T) {
	l := &Live{}
	l.GPUs, l.CPUMilli = 2, 100_000
	for _, e := range Placements.All() {
		if e.Name == "count" || e.Name == "pack" {
			continue
		}
		if got := whereOn(t, e.Name, []int32{8, 8}, l); got != "" {
			t.Errorf("%s puts 100 CPUs on a node of 80: %q", e.Name, got)
		}
	}
	if got := whereOn(t, "pack", []int32{8, 8}, l); got != "0:1 1:1" {
		t.Errorf("pack goes to %q, want 50 CPUs on each of two nodes", got)
	}
}

// Two sizes of job, ones and eights: a one goes where no eight can go anyway.
func TestFGDKeepsHolesWhole(t *testing.T) {
	mix := NewMix()
	for _, g := range []int{1, 8} {
		l := &Live{}
		l.GPUs = g
		mix.Add(&l.Job)
	}
	c := newCluster([]Pool{{Name: "all", Nodes: 3, GPUsPerNode: 8}})
	for n, free := range []int32{8, 5, 8} {
		c.setUp(n, true, false)
		c.setFree(n, free)
	}
	p := FGD(mix)
	p.(Observer).Observe(Event{Kind: Gain}, c)
	l := &Live{}
	l.GPUs = 1
	if got := p.Place(c, l, []int{0}, nil); len(got) != 1 || got[0].Node != 1 {
		t.Errorf("a job of one GPU goes to %v, want node 1", got)
	}
	// Half the jobs cannot use the five GPUs of node 1.
	if got := mix.Fragmented(c); got != 2.5 {
		t.Errorf("%.2f GPUs are fragmented, want 2.5", got)
	}
}
