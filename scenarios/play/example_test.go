package play_test

import (
	"context"
	"fmt"

	"capcli/scenarios"
	"capcli/scenarios/play"
)

// A scenario of the library is played once: what it costs, and how long 95% of its
// jobs waited at most.
func Example() {
	text, _ := scenarios.Library("default")
	s, err := scenarios.Parse("default.yaml", text)
	if err != nil {
		panic(err)
	}
	c, err := play.NewCase(s, play.Options{})
	if err != nil {
		panic(err)
	}
	runs, err := c.Play(context.Background(), 1)
	if err != nil {
		panic(err)
	}
	fmt.Println(runs[0].Cost.Total, runs[0].WaitP95)
	// Output: $87,653.97 33 min
}
