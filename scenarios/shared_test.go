package scenarios

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"capcli"
)

// TestUses checks what jobs take by a rule: of each GPU, in all, and in a tag.
func TestUses(t *testing.T) {
	s, err := Parse("plan.yaml", []byte(`capcli: scenario/v1
period: 2027-01-01 to 2027-01-02
capacity: [{name: own, kind: owned, nodes: 2, gpus_per_node: 4, price: 2, host_cpus: 8, net_gib_per_s: {node: 12.5}}]
shapes:
  - {name: one, classes: [one], uses: {store_gib_per_s: 1.5, host_cpus: {all: 10, share: 25%}, net_gib_per_s: {tag: net}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.Capacity[0].shared()); got != "[{host_cpus node 8000000} {net_gib_per_s node 12500000}]" {
		t.Errorf("the pool shares %s", got)
	}
	for _, c := range []struct {
		job  capcli.Job
		want string
	}{
		{capcli.Job{Class: "one", GPUs: 3}, "[{1500000 1000000} {3333334 250000} {0 0} {0 0}]"},
		{capcli.Job{Class: "one", GPUs: 4, Tags: capcli.NewTags(capcli.Tag{Name: "net", Value: "2"})}, "[{1500000 1000000} {2500000 250000} {0 0} {500000 1000000}]"},
		{capcli.Job{Class: "one", GPUs: 1, GPUMilli: 500}, "[{1500000 1000000} {20000000 250000} {0 0} {0 0}]"}, // half a GPU takes half of what a whole one would
		{capcli.Job{Class: "other", GPUs: 3}, "none"},
	} {
		if err := s.giveShape(&c.job, nil); err != nil {
			t.Fatal(err)
		}
		got := "none"
		if c.job.Uses != nil {
			got = fmt.Sprint(*c.job.Uses)
		}
		if got != c.want {
			t.Errorf("%+v takes %s, want %s", c.job, got, c.want)
		}
	}
	bad := capcli.Job{ID: "j", Class: "one", GPUs: 1, Tags: capcli.NewTags(capcli.Tag{Name: "net", Value: "-1"})}
	if err := s.giveShape(&bad, nil); err == nil || !strings.Contains(err.Error(), "plan.yaml") || !strings.Contains(err.Error(), `tag net of job j, found "-1"`) {
		t.Error(err)
	}
}

// TestAllReduce checks the times of an all-reduce against its closed forms, and that a ring which sums nodes first moves
// less over the slow level.
func TestAllReduce(t *testing.T) {
	list := func(level string, number string) levelNumber { return levelNumber{level, number} }
	r := allReduce{gib: "14", step: "1", bandwidth: []levelNumber{list("node", "400"), list("cluster", "20")}, latency: []levelNumber{list("node", "5"), list("cluster", "20")}}
	const us = 1e-6
	for _, c := range []struct {
		node  int
		level string
		n     int
		want  float64
	}{
		{0, "node", 8, 2*7.0/8*14/400 + 14*5*us},
		{0, "cluster", 16, 2*15.0/16*14/20 + 30*20*us},
		{8, "cluster", 16, 2*7.0/8*14/400 + 14*5*us + 2*1.0/2*14/8/20 + 2*20*us},
		{8, "cluster", 4, 2*3.0/4*14/20 + 6*20*us}, // not more than a node: one ring
		{8, "cluster", 20, 2*19.0/20*14/20 + 38*20*us},
	} {
		r.node = c.node
		got, _ := r.time(c.level, c.n).Float64()
		if d := got - c.want; d > 1e-12 || d < -1e-12 {
			t.Errorf("%d GPUs at %s with nodes of %d: %.9f s, want %.9f", c.n, c.level, c.node, got, c.want)
		}
	}
	r.node = 0
	for _, x := range r.slowdowns(16) {
		want := new(big.Rat).Sub(r.time(x.Level, 16), r.time("node", 16))
		want.Add(want, big.NewRat(1, 1))
		if got := big.NewRat(x.Num, x.Den); got.Cmp(want) != 0 {
			t.Errorf("the factor at %s is %s, want %s", x.Level, got, want)
		}
	}
	if r.slowdowns(1) != nil {
		t.Error("one GPU sums nothing")
	}
}
