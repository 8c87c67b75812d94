package mix_test

import (
	"errors"
	"slices"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan/mix"
)

func TestParseAxis(t *testing.T) {
	tests := []struct {
		text    string
		values  []string
		ordered bool
		wrong   string
	}{
		{text: "capacity.base.gpus=0..128:32", values: []string{"0", "32", "64", "96", "128"}, ordered: true},
		{text: "overflow.patience=0,15m,1h..2h:30m", values: []string{"0", "15m", "1h", "1h30m", "2h"}, ordered: true},
		{text: "capacity.base.price=1..1.5:0.25", values: []string{"1", "1.25", "1.5"}, ordered: true},
		{text: "policy.name=easy,fifo", values: []string{"easy", "fifo"}},
		{text: "policy=[a, b],{c: d, e: f}", values: []string{"[a, b]", "{c: d, e: f}"}},
		{text: "capacity.base.gpus=8,4", values: []string{"8", "4"}},
		{text: "capacity.base.gpus", wrong: `vary "capacity.base.gpus": want PATH=VALUES`},
		{text: "seed=1,2", wrong: `vary "seed=1,2": seed is the same for every mix of a plan; what may be varied: capacity, policy, placement, overflow, preemption, tenants, commitments, services, widths`},
		{text: "policy=easy,easy", wrong: `vary "policy=easy,easy": easy is there twice`},
		{text: "capacity.base.gpus=8..4", wrong: `vary "capacity.base.gpus=8..4": "8..4" goes nowhere: want a step over 0 and an end that is not before the beginning`},
	}
	for _, tt := range tests {
		a, err := mix.ParseAxis(tt.text)
		if tt.wrong != "" {
			if request, ok := errors.AsType[*capcli.RequestError](err); !ok || request.Error() != tt.wrong {
				t.Errorf("%s: %v, want %s", tt.text, err, tt.wrong)
			}
			continue
		}
		if err != nil || !slices.Equal(a.Values, tt.values) || a.Ordered != tt.ordered {
			t.Errorf("%s: %q, ordered %t, %v", tt.text, a.Values, a.Ordered, err)
		}
	}
}

func TestRequestChecks(t *testing.T) {
	tests := []struct {
		change func(q *mix.Request)
		want   string
	}{
		{func(*mix.Request) {}, ""},
		{func(q *mix.Request) { q.Hold = 0 }, "hold wants a share over 0"},
		{func(q *mix.Request) { q.Hold = 1.5 }, "hold wants a share over 0"},
		{func(q *mix.Request) { q.Confidence = 1 }, "confidence 100% would drop nothing; 0 says so"},
		{func(q *mix.Request) { q.Goal = 7 }, "goal wants frontier or cheapest"},
	}
	for i, tt := range tests {
		q := mix.NewRequest(nil)
		tt.change(q)
		got := ""
		if err := q.Check(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%d: %q, want %q", i, got, tt.want)
		}
	}
}
