package outlook_test

import (
	"context"
	"fmt"
	"strings"

	"capcli/forecast/demand"
	"capcli/forecast/outlook"
	"capcli/profile/logs/trace"
)

// How many GPUs are enough on each of the next days with a chance of 95 percent.
func ExampleForecast() {
	ctx, usage := context.Background(), "ds,y\n2026-06-01,40\n2026-06-02,44\n2026-06-03,41\n2026-06-04,47\n2026-06-05,50\n2026-06-06,46\n2026-06-07,52\n2026-06-08,55\n"
	hs, err := demand.ReadInput(ctx, demand.Request{}, demand.Sources{}, trace.Input{Name: "usage.csv", R: strings.NewReader(usage)})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := outlook.Forecast(ctx, hs, outlook.Request{Model: "holt", Horizon: "4"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f\n", result.Series[0].Lines.P95)
	// Output: [60.5 62.4 64.3 66.3]
}
