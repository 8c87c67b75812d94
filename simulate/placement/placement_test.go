package placement_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// scripted holds GPUs on nodes before it asks another placement: a job whose ID is
// a number goes to that node. It notes where the other puts a job.
type scripted struct {
	simulate.Placement
	where []simulate.Slice
}

func (s *scripted) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	if n, err := strconv.Atoi(l.ID); err == nil {
		return append(dst, c.WholeSlice(l, n))
	}
	return s.Placement.Place(c, l, pools, dst)
}

func (s *scripted) Observe(e simulate.Event, c *simulate.Cluster) {
	if o, learns := s.Placement.(simulate.Observer); learns {
		o.Observe(e, c)
	}
	if e.Kind == simulate.Start && e.Job.ID == "asked" {
		s.where = append(s.where, e.Job.Slices()...)
	}
}

// whereOn says where a placement puts a job on nodes of eight with so many free
// GPUs: "1:8 3:2" is eight of node 1 and two of node 3.
func whereOn(t *testing.T, p simulate.Placement, free []int, asked capcli.Job) string {
	t.Helper()
	fifo, err := policy.Catalog.Get("fifo")
	if err != nil {
		t.Fatal(err)
	}
	var jobs []capcli.Job
	for n, f := range free {
		if f < 8 {
			jobs = append(jobs, capcli.Job{ID: strconv.Itoa(n), GPUs: 8 - f, Run: 1000, Deadline: capcli.NoTime})
		}
	}
	asked.ID, asked.Submit, asked.Run, asked.Deadline = "asked", 1, 10, capcli.NoTime
	s := &scripted{Placement: p}
	_, err = simulate.Run(context.Background(), simulate.Config{
		Until: 100, List: append(jobs, asked), Policy: fifo, Placement: s,
		Pools: []simulate.Pool{{Name: "all", Terms: simulate.Owned, Nodes: len(free), GPUsPerNode: 8, CPUMilli: 80_000}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range s.where {
		out = append(out, fmt.Sprintf("%d:%d", s.Node, s.GPUs))
	}
	return strings.Join(out, " ")
}

// named makes a placement of the catalogue.
func named(t *testing.T, name string) simulate.Placement {
	t.Helper()
	p, err := placement.Catalog.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return p()
}

func TestPlacements(t *testing.T) {
	holes, worn := []int{3, 8, 5, 8}, []int{3, 3, 5, 0}
	for _, c := range []struct {
		placement string
		free      []int
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
			if got := whereOn(t, named(t, c.placement), c.free, capcli.Job{GPUs: c.gpus}); got != c.want {
				t.Errorf("%d GPUs of %v go to %q, want %q", c.gpus, c.free, got, c.want)
			}
		})
	}
}

// A job's CPUs rule nodes out whose GPUs would do, in proportion when it is
// split.
func TestPlacementsCPU(t *testing.T) {
	l := capcli.Job{GPUs: 2, CPUMilli: 100_000}
	for _, e := range placement.Catalog.All() {
		if e.Name == "count" || e.Name == "pack" {
			continue
		}
		if got := whereOn(t, e.Value(), []int{8, 8}, l); got != "" {
			t.Errorf("%s puts 100 CPUs on a node of 80: %q", e.Name, got)
		}
	}
	if got := whereOn(t, named(t, "pack"), []int{8, 8}, l); got != "0:1 1:1" {
		t.Errorf("pack goes to %q, want 50 CPUs on each of two nodes", got)
	}
}

// Two sizes of job, ones and eights: a one goes where no eight can go anyway.
func TestFGDKeepsHolesWhole(t *testing.T) {
	mix := placement.NewMix(capcli.Job{GPUs: 1}, capcli.Job{GPUs: 8})
	if got := whereOn(t, placement.FGD(mix), []int{8, 5, 8}, capcli.Job{GPUs: 1}); got != "1:1" {
		t.Errorf("a job of one GPU goes to %q, want node 1", got)
	}
	// Half the jobs cannot use the five GPUs of node 1.
	look := &fragments{mix: mix}
	whereOn(t, look, []int{8, 5, 8}, capcli.Job{GPUs: 1})
	if look.got != 2.5 {
		t.Errorf("%.2f GPUs are fragmented, want 2.5", look.got)
	}
}

// fragments measures the fragmentation when a job comes.
type fragments struct {
	mix *placement.Mix
	got float64
}

func (f *fragments) Place(*simulate.Cluster, *simulate.Live, []int, []simulate.Slice) []simulate.Slice {
	return nil
}

func (f *fragments) Observe(e simulate.Event, c *simulate.Cluster) {
	if e.Kind == simulate.Arrive && e.Job.ID == "asked" {
		f.got = f.mix.Fragmented(c)
	}
}
