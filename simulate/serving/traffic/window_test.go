package traffic

import (
	"slices"
	"testing"

	"capcli"
	"capcli/profile/logs/requests"
	"capcli/simulate/serving"
)

// RequestsBetween yields what Requests yields in that time, for curves and traces.
func TestBetween(t *testing.T) {
	d := Demand{Curve: Curve{Rate: 3, DaySwing: 4, PeakFrom: 16, PeakTo: 18, Start: capcli.NoTime}, Tokens: Tokens{In: Length{Median: 100, Quantile: 0.95, At: 400}, Out: Length{Mean: 50}}, Name: "x"}
	drawn, err := Draw(d, 7)
	if err != nil {
		t.Fatal(err)
	}
	trace := &requests.Trace{Start: requests.NoStart}
	for i := range int64(500) {
		trace.Rows = append(trace.Rows, requests.Row{Arrival: i * i * 1000, In: 1 + i, Out: 2})
	}
	played, err := Play(trace, Replay{Repeat: RepeatOwn, Cached: -1}, 7)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Source{drawn, played} {
		for _, w := range [][2]capcli.Seconds{{0, 100}, {90, 121}, {3599, 3700}, {60, 120}, {500, 500}} {
			var want []serving.Request
			for r := range s.Requests(w[1]) {
				if r.Arrival >= int64(w[0])*second {
					want = append(want, r)
				}
			}
			got := slices.Collect(RequestsBetween(s, w[0], w[1]))
			if !slices.Equal(got, want) || len(want) == 0 && w[0] < w[1] {
				t.Errorf("%T from %d to %d: %d requests, want %d", s, w[0], w[1], len(got), len(want))
			}
		}
	}
}
