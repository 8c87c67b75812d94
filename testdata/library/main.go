// Command library plays a scenario of the library three times, from a module of its own.
package main

import (
	"context"
	"fmt"
	"log"

	"capcli/scenarios"
	"capcli/scenarios/play"
)

func main() {
	text, _ := scenarios.Library("three-tier")
	s, err := scenarios.Parse("three-tier.yaml", text)
	if err != nil {
		log.Fatal(err)
	}
	c, err := play.NewCase(s, play.Options{})
	if err != nil {
		log.Fatal(err)
	}
	runs, err := c.Play(context.Background(), 3)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range runs {
		fmt.Printf("%s, 95%% of jobs wait %s or less\n", r.Cost.Total, r.WaitP95)
	}
}
