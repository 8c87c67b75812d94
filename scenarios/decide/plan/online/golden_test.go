package online_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan/online"
)

// TestGolden holds both policies on drawn curves against an independent program: purchases by
// period, and costs with whole fees.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "..", "shared", "golden", "commitments", "online.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the golden answers are not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	type run struct {
		U        float64
		Reserved [][2]int64
		Cost     string
	}
	var list []struct {
		ID       string
		Demand   []int64
		Tau      int
		Open     int64 `json:"on_demand"`
		Fee      int64
		Alpha    string
		Expected struct {
			Deterministic run
			Randomised    []run
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	alphas := map[string]int64{"0": 0, "1/4": 25, "9/20": 45, "3/5": 60}
	for _, c := range list {
		share, ok := alphas[c.Alpha]
		if !ok {
			t.Fatalf("%s: alpha %s", c.ID, c.Alpha)
		}
		l := online.Lease{Periods: c.Tau, Fee: capcli.USD(c.Fee), OnDemand: capcli.USD(c.Open), Used: capcli.USD(c.Open * share / 100)}
		for _, want := range append(c.Expected.Randomised, c.Expected.Deterministic) {
			u := want.U
			if u == 0 {
				u = 1
			}
			got, err := online.PlayAfter(c.Demand, 0, l, u)
			if err != nil {
				t.Fatal(err)
			}
			cost, err := strconv.ParseFloat(want.Cost, 64)
			if err != nil || math.Abs(cost-got.Cost.Float()) > 1e-5 {
				t.Errorf("%s, u %g: costs %s, want %s", c.ID, u, got.Cost.Decimal(), want.Cost)
			}
			leases := make([]int64, len(c.Demand))
			for _, r := range want.Reserved {
				leases[r[0]] = r[1]
			}
			for i := range leases {
				if leases[i] != got.Leases[i] {
					t.Errorf("%s, u %g: leases %d in period %d, want %d", c.ID, u, got.Leases[i], i, leases[i])
				}
			}
		}
	}
}
