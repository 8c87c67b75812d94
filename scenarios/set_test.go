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
