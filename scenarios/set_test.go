package scenarios

import (
	"strings"
	"testing"
)

func TestSet(t *testing.T) {
	tests := []struct {
		path, value string
		got         func(s *Scenario) any
		want        any
	}{
		{"capacity[0].gpus", "72", func(s *Scenario) any { return s.Capacity[0].GPUs }, 72},
		{"capacity.base.gpus", "72", func(s *Scenario) any { return s.Capacity[0].GPUs }, 72},
		{"capacity.spot.nodes", "6", func(s *Scenario) any { return s.Capacity[3].Nodes }, 6},
		{"policy", "easy", func(s *Scenario) any { return s.PolicyName() }, "easy"},
		{"policy.name", "easy", func(s *Scenario) any { return s.PolicyName() }, "easy"},
		{"overflow.patience", "1h", func(s *Scenario) any { return int(s.Overflow.Patience[0].Wait) }, 3600},
		{"overflow", "null", func(s *Scenario) any { return len(s.Overflow.Order) }, 0},
		{"limits.wait_p95", "45m", func(s *Scenario) any { return s.Limits[0].Value }, 2700.0},
		{"limits.makespan", "9d", func(s *Scenario) any { return len(s.Limits) }, 3},
		{"capacity[3]", "null", func(s *Scenario) any { return len(s.Capacity) }, 3},
		{"overflow.order", "[od, spot]", func(s *Scenario) any { return strings.Join(s.Overflow.Order, " ") }, "od spot"},
		{"preemption.classes[0].max_gpus", "16", func(s *Scenario) any { return s.Preemption.Classes[0].MaxGPUs }, 16},
	}
	for _, x := range tests {
		s, err := Parse("full.yaml", []byte(full))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Set(x.path, x.value); err != nil {
			t.Errorf("%s=%s: %v", x.path, x.value, err)
		} else if got := x.got(s); got != x.want {
			t.Errorf("%s=%s: got %v, want %v", x.path, x.value, got, x.want)
		}
	}
}

func TestSetOnTheShortForm(t *testing.T) {
	const short = "capcli: scenario/v1\njobs: a.swf\npolicy: fifo\ncapacity: [{kind: owned, gpus: 4, free: true}]\n"
	s, err := Parse("s.yaml", []byte(short), "policy.skip=true", "jobs.format=swf", "overflow.patience=never")
	if err != nil {
		t.Fatal(err)
	}
	if !s.Policy.Skip || s.Policy.Name != "fifo" || s.Jobs.From != "a.swf" || s.Jobs.Format != "swf" || s.Overflow.Patience[0].Wait != Never {
		t.Errorf("got policy %+v, jobs %+v, overflow %+v", s.Policy, s.Jobs, s.Overflow)
	}
}

func TestSetRefuses(t *testing.T) {
	for _, x := range []struct{ set, want string }{
		{"capacity[9].gpus=72", "capacity has 4, from [0]"},
		{"capacity.bsae.gpus=72", `did you mean "base"?`},
		{"capacity[0].gpus=many", `--set capacity[0].gpus=many  gpus: want a whole number, found "many"`},
		{"capacity[0].gpu=72", `did you mean "gpus"?`},
		{"capacity[0].price=0", "free: true"},
		{"capacity[0.gpus=72", "without a ]"},
		{"policy", "path=value"},
		{"policy=", "is empty"},
		{"policy=[", "not valid YAML"},
		{"policy=&x easy", "anchor"},
		{"seed.x=1", "seed has no fields"},
		{"name[0]=1", "is no list"},
	} {
		_, err := Parse("full.yaml", []byte(full), x.set)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want …%s…", x.set, err, x.want)
		}
	}
	s, err := Parse("full.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Set("capacity[0].gpus", "-1"); err == nil || s.Capacity[0].GPUs != 64 {
		t.Errorf("after a refused Set: got %v and %d GPUs, want an error and 64 as before", err, s.Capacity[0].GPUs)
	}
}

// TestSetToNone takes pools away by a size of 0: the numbers of the list are those
// of the file, whatever comes in which order, and the last size counts.
func TestSetToNone(t *testing.T) {
	const text = "capcli: scenario/v1\nname: x\ncapacity:\n" +
		"  - {name: a, kind: reserved, gpus: 8, price: 1}\n  - {name: b, kind: owned, nodes: 2, gpus_per_node: 4, price: 1}\n" +
		"  - {name: c, kind: on_demand, max_gpus: 8, price: 2}\n  - {name: d, kind: on_demand, price: 2}\n"
	for _, c := range []struct {
		sets []string
		want string
	}{
		{[]string{"capacity.a.gpus=0"}, "b c d"},
		{[]string{"capacity[0].gpus=0", "capacity[1].nodes=0", "capacity[2].max_gpus=0"}, "d"},
		{[]string{"capacity[1].nodes=0", "capacity[2].price=3", "capacity[0].gpus=0"}, "c d"},
		{[]string{"capacity.b.gpus=0"}, "a c d"},
		{[]string{"capacity.a.gpus=0", "capacity.a.gpus=4"}, "a b c d"},
		{[]string{"capacity.a.gpus=4", "capacity.a.gpus=0"}, "b c d"},
		{[]string{"capacity.a.gpus=0", "capacity.a.price=3"}, "b c d"},
	} {
		s, err := Parse("x.yaml", []byte(text), c.sets...)
		if err != nil {
			t.Errorf("%v: %v", c.sets, err)
			continue
		}
		var names []string
		for i := range s.Capacity {
			names = append(names, s.Capacity[i].Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%v: pools %s, want %s", c.sets, got, c.want)
		}
	}
	for _, set := range []string{"capacity.e.gpus=0", "capacity.d.lead_time=0"} {
		if _, err := Parse("x.yaml", []byte(text), set); err != nil != (set == "capacity.e.gpus=0") {
			t.Errorf("%s: %v", set, err)
		}
	}
	if _, err := Parse("x.yaml", []byte(strings.Replace(text, "gpus: 8, price: 1", "gpus: 0, price: 1", 1))); err == nil {
		t.Error("a file may not have a pool of no size")
	}
}
