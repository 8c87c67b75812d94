package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
)

// Each start on serverless GPUs is billed for its cold start and its run, and for the least time, at the price
// of a second, to the millionth of a dollar. Most concurrent ones is a hard bound.
func TestPerUseIsBilledBySeconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cold, least, most := rapid.Int64Range(0, 60).Draw(t, "cold"), rapid.Int64Range(0, 120).Draw(t, "least"), rapid.IntRange(1, 5).Draw(t, "most")
		price := rapid.Int64Range(1, 5000).Draw(t, "price") // millionths of a dollar a second
		s, err := Parse("u.yaml", []byte(fmt.Sprintf("capcli: scenario/v1\ncapacity: [{kind: per_use, max_gpus: %d, price: 0.%06d USD/gpu-s, cold_start: %ds, min_billing: %ds}]\n", most, price, cold, least)))
		if err != nil {
			t.Fatal(err)
		}
		var jobs []capcli.Job
		var seconds int64
		for i := range rapid.IntRange(1, 30).Draw(t, "jobs") {
			run := rapid.Int64Range(1, 300).Draw(t, "run")
			jobs = append(jobs, capcli.Job{
				ID: fmt.Sprint(i), Tenant: "a", GPUs: 1, Submit: capcli.Time(1_800_000_000 + 7*i), Run: capcli.Seconds(run), Start: capcli.NoTime, End: capcli.NoTime, Eligible: capcli.NoTime, Deadline: capcli.NoTime,
			})
			seconds += max(least, cold+run)
		}
		cfg, err := s.Config(func(yield func(capcli.Job, error) bool) {
			for _, j := range jobs {
				if !yield(j, nil) {
					return
				}
			}
		}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulate.Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		inv, err := s.Invoice(r.Record, r.Ended, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := capcli.USD(seconds * price); inv.Total.Cost != want {
			t.Fatalf("%d seconds at %d millionths cost %s, want %s", seconds, price, inv.Total.Cost.Decimal(), want.Decimal())
		}
	})
}

// Reserved or by use: with n equal starts a day of r seconds each, serverless costs n (cold + r) p a day and a
// reserved GPU 24 hours of its price, so that the reserved one pays from n = 24 h x rate / (cold + r) p on.
func TestPerUseAgainstReserved(t *testing.T) {
	const price, rate = 0.001, 2.40 // a GPU-second; a GPU-hour
	day := func(capacity string, starts int) float64 {
		text := fmt.Sprintf("capcli: scenario/v1\nperiod: 2027-01-04 to 2027-01-13\njobs: {generate: {classes: [{name: api, kind: steady, gpus: 1, every: %ds, busy_share: %.12f}]}}\ncapacity: [%s]\n", 86400/starts, float64(60*starts)/86400, capacity)
		s, err := Parse("u.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		jobs, _ := s.Generated(Options{})
		cfg, err := s.Config(jobs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulate.Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		inv, err := s.Invoice(r.Record, r.Ended, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return inv.Total.Cost.Float() / 10
	}
	for _, starts := range []int{96, 480, 720, 800, 864, 960} { // 60 s of work each
		use := day("{kind: per_use, price: 0.001 USD/gpu-s, cold_start: 12s}", starts)
		held := day("{kind: reserved, gpus: 1, price: 2.40}", starts)
		if want := price * 72 * float64(starts); use < want-1e-6 || use > want+1e-6 {
			t.Errorf("%d starts a day cost $%.6f by use, want $%.6f", starts, use, want)
		}
		if pays := starts > 24*rate/(72*price); pays != (held < use) {
			t.Errorf("%d starts a day: reserved $%.2f, by use $%.2f", starts, held, use)
		}
	}
}

func TestPerUseFaults(t *testing.T) {
	for fields, want := range map[string]string{
		"kind: per_use, price: 0.0000001 USD/gpu-s":                      "",
		"kind: per_use, price: 0.00000000001 USD/gpu-s":                  "a whole number of millionths",
		"kind: per_use, nodes: 2, gpus_per_node: 8, price: 1":            "nodes is of nodes",
		"kind: per_use, price: 1, cold_start: 9s, lead_time: 9s":         "leave one out",
		"kind: on_demand, price: 1, cold_start: 9s":                      "cold_start is for per_use",
		"kind: per_use, price: 1, term: 1y":                              "term is for owned and reserved",
		"kind: per_use, price: 5 USD/gpu-s":                              "is believed",
		"kind: per_use, gpu_model: H100, price: 0.001097 USD/gpu-second": "",
	} {
		_, err := Parse("u.yaml", []byte("capcli: scenario/v1\ncapacity: [{"+fields+"}]\n"))
		if (want == "") != (err == nil) || want != "" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", fields, err, want)
		}
	}
}
