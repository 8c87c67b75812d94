package mix_test

import (
	"context"
	"fmt"

	"capcli/scenarios"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/play"
)

// A scenario with made-up jobs, planned under a limit on waits.
func ExamplePlan() {
	text, _ := scenarios.Library("default")
	s, err := scenarios.Parse("default.yaml", text, "period=2027-03-01 to 2027-03-08")
	if err != nil {
		panic(err)
	}
	c, err := play.NewCase(s, play.Options{})
	if err != nil {
		panic(err)
	}
	q := mix.NewRequest(c)
	q.Vary, q.Max, q.Runs = []string{"capacity.base.gpus=0..128:32", "overflow.patience=0,1h"}, []string{"wait_p95=1h"}, 2
	r, err := mix.Plan(context.Background(), q)
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Best.Choices, r.Best.Cost)
	// Output: [{capacity.base.gpus 32} {overflow.patience 0}] $22,438.22
}
