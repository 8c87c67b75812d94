package scenarios

import (
	"strings"
	"testing"

	"capcli/scenarios/money/billing"
)

func TestBudgetApprovalsAndEnergy(t *testing.T) {
	s, err := Parse("s.yaml", []byte(`capcli: scenario/v1
capacity: [{kind: reserved, gpus: 16, price: 1}]
budget: {quarterly: 1.5M, tenants: {research: 40k, "a b": 0.000001}, view: cash}
approvals: [{below: 10, by: team lead}, {by: board}]
energy: {watts_held: 700.5, watts_idle: 90, pue: 1.25, price_kwh: 0.1125, intensity: 381.2345, carbon_price: 80, carbon_budget: 0.5t, models: [{gpu_model: H100, watts_held: 1}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	b := s.Budget
	if b.Every != billing.Quarterly || b.Amount != 1_500_000e6 || !b.Cash || len(b.Tenants) != 2 || b.Tenants[1] != (billing.TenantBudget{Name: "a b", Amount: 1}) {
		t.Errorf("got %+v", b)
	}
	if got := s.Approvals.Say(10); got != "10 GPUs: board must sign" {
		t.Errorf("got %q", got)
	}
	e := s.Energy.Energy
	if e.Held != 700_500 || e.Idle != 90_000 || e.PUE != 1250 || e.Price != 112_500 || e.Intensity.Flat != 381_235 || e.CarbonPrice != 80e6 || e.Budget != billing.Tonne/2 {
		t.Errorf("got %+v", e)
	}
	if len(e.Models) != 1 || e.Models[0].Held != 1000 {
		t.Errorf("got %+v", e.Models)
	}
}

func TestEnergyLoadsItsSeries(t *testing.T) {
	const head = "capcli: scenario/v1\ncapacity: [{kind: reserved, gpus: 16, price: 1}]\n"
	s, err := Parse("s.yaml", []byte(head+"energy: {watts_held: 700, intensity: grid.csv, zone: DE}\n"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"grid.csv": "zone,timestamp_utc,gco2_per_kwh\nFR,2024-01-01T00:00:00Z,50\nDE,2024-01-01T00:00:00Z,400.5\n"}
	e, err := s.Energy.Load(func(name string) ([]byte, error) { return []byte(files[name]), nil })
	if err != nil {
		t.Fatal(err)
	}
	if grid, moved, ok := e.Intensity.At(1704067200); grid != 400_500 || moved || !ok {
		t.Errorf("got %d %v %v", grid, moved, ok)
	}
	s.Energy.Zone = ""
	if _, err := s.Energy.Load(func(name string) ([]byte, error) { return []byte(files[name]), nil }); err == nil || !strings.Contains(err.Error(), "more than one zone") {
		t.Errorf("two zones and none named: got %v", err)
	}
}

func TestMoneyFaults(t *testing.T) {
	const head = "capcli: scenario/v1\ncapacity: [{kind: reserved, gpus: 16, price: 1}]\n"
	for text, want := range map[string]string{
		"budget: {monthly: 1k, yearly: 2k}":                       "give one of monthly",
		"budget: {view: cash}":                                    "the budget has no amount",
		"budget: {monthly: 0}":                                    "a budget of 0 allows nothing",
		"budget: {monthly: -5}":                                   "is negative",
		"budget: {tenants: {a: 0}}":                               "a budget of 0 allows nothing",
		"budget: {tenants: [a]}":                                  "amounts by tenant",
		"budget: {montly: 1k}":                                    `did you mean "monthly"?`,
		"budget: {monthly: 2000000M}":                             "more than a trillion",
		"approvals: [{below: 10}]":                                "by is missing",
		"approvals: [{by: a}, {below: 10, by: b}]":                "those after it are never asked",
		"energy: {pue: 1.3}":                                      "watts_held is missing",
		"energy: {watts_held: 1, pue: 0.5}":                       "want 1 to 10",
		"energy: {watts_held: 1, intensity: 3, zone: DE}":         "zone goes with a file",
		"energy: {watts_held: 1, intensity: 3, carbon_budget: 5}": "with its unit",
		"energy: {watts_held: 1, carbon_price: 80}":               "intensity is missing",
		"energy: {models: [{gpu_model: a, watts_held: 1}, {gpu_model: a, watts_held: 1}]}": "there twice",
	} {
		if _, err := Parse("s.yaml", []byte(head+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v\nwant … %s", text, err, want)
		}
	}
}
