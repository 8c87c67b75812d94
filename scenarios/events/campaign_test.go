package events

import (
	"errors"
	"math"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/prices"
)

const campaignBase = "capcli: events/v1\nevents:\n  - {name: a, kind: campaign, from: 2027-03-01, gpus: 512, parameters: 13B, tokens: 2T, "

const profileDoc = `{"schema": "capcli/profile_summary/v1", "jobs": [{"job_id": "1", "tenant": "nlp", "held_gpu_hours": 10, "tensor_active_pct_mean": 50},
	{"job_id": "2", "tenant": "vision", "held_gpu_hours": 10, "tensor_active_pct_mean": null}], "total": {"held_gpu_hours": 20, "tensor_active_pct_mean": 50}}`

func openProfile(string) ([]byte, error) { return []byte(profileDoc), nil }

// The peak of a campaign comes from its GPU model and format, its MFU from a range or a profile.
func TestCampaignSpeed(t *testing.T) {
	const run = 6 * 13e9 * 2e12 / 3600 * 1.2
	tests := map[string]float64{ // GPU-hours
		"peak_flops: 989T, mfu: 40%":                                                                run / 989e12 / 0.4,
		"gpu_model: H100, mfu: 40%":                                                                 run / 989e12 / 0.4,
		"gpu_model: NVIDIA H100 80GB HBM3, format: fp8, mfu: 0.3":                                   run / 1979e12 / 0.3,
		"gpu_model: V100, mfu: 30%":                                                                 run / 125e12 / 0.3, // fp16
		"gpu_model: TPU-v5p, mfu: 35%..45%":                                                         run / 459e12 / 0.4,
		"gpu_model: A100, mfu_profile: {file: p.json, tenants: [nlp]}":                              run / 312e12 / 0.5,
		"gpu_model: A100, mfu_profile: {file: p.json, tenants: [nlp], share: 80%}":                  run / 312e12 / 0.4,
		"gpu_model: H100, mfu: 40%, active_parameters: 6.5B":                                        run / 989e12 / 0.4 / 2,
		"past: {parameters: 6.5B, tokens: 1T, gpu_hours: 1000, gpus: 512}":                          4800,
		"past: {parameters: 6.5B, tokens: 1T, gpu_hours: 1000, gpus: 512}, scaling: {tokens: 1..2}": 3600,
	}
	for fields, want := range tests {
		plan, err := Parse("e.yaml", []byte(campaignBase+fields+"}\n"), nil, openProfile)
		if err != nil {
			t.Errorf("%s: %v", fields, err)
			continue
		}
		if got := plan.List[0].Cost.GPUHours; math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s: %g GPU-hours, want %g", fields, got, want)
		}
		if e := plan.List[0].Event; e.End <= e.Start || e.Size != 512 {
			t.Errorf("%s: event %+v", fields, e)
		}
	}
}

func TestCampaignFaults(t *testing.T) {
	for fields, want := range map[string]string{
		"gpu_model: X9, mfu: 40%":                                   "the peak of gpu_model \"X9\" is not known",
		"gpu_model: T4, format: fp8, mfu: 40%":                      "T4 has no units for fp8",
		"gpu_model: H100, mfu: 45%..35%":                            "a share over 0 and up to 1, or a range of it",
		"gpu_model: H100":                                           "mfu is missing",
		"peak_flops: 1T, format: bf16, mfu: 1":                      "leave one out",
		"gpu_model: H100, mfu: 40%, scaling: {tokens: 2}":           "scaling is from a past run",
		"gpu_model: H100, mfu: 40%, energy: {price_kwh: 0.1}, x: 1": `unknown field "x"`,
		"gpu_model: TPU-v5p, mfu: 40%, energy: {price_kwh: 0.1}":    "energy needs watts",
		"gpu_model: H100, mfu: 40%, job_gpus: 100":                  "no whole number of jobs of 100",
		"gpu_model: H100, mfu: 40%, delays: [{by: 9d, probability: 60%}, {by: 19d, probability: 60%}]": "add up to 1 at most",
		"gpu_model: H100, mfu: 40%, success: {probability: 10%, for: 9d, runs: 2}":                     "success has for",
		"gpu_model: H100, mfu: 40%, gpu_price: gcp/us-central1/nothing/1y":                             "nothing",
		"gpu_model: H100, mfu: 40%, gpu_price: -2":                                                     "dollars of a GPU-hour",
		"gpu_model: H100, mfu: 40%, mfu_profile: {file: p.json}":                                       "leave one out",
		"past: {parameters: 1B, tokens: 1T, gpu_hours: 9, gpus: 1}, scaling: {parameters: 0.5}":        "a factor from 1 to 16",
	} {
		if _, err := Parse("e.yaml", []byte(campaignBase+fields+"}\n"), nil, openProfile); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", fields, err, want)
		}
	}
	var in *capcli.InputError
	for _, fields := range []string{"mfu_profile: {file: p.json, tenants: [vision]}", "mfu_profile: {file: p.json, jobs: [none]}"} {
		if _, err := Parse("e.yaml", []byte(campaignBase+"gpu_model: H100, "+fields+"}\n"), nil, openProfile); !errors.As(err, &in) || in.File != "p.json" {
			t.Errorf("%s: %v, want a fault of p.json", fields, err)
		}
	}
	if _, err := Parse("e.yaml", []byte(campaignBase+"gpu_model: H100, mfu_profile: {file: p.json}}\n"), nil, nil); err == nil {
		t.Error("a profile is read without access to files")
	}
}

// Costs by model: the GPU-hours follow the peaks, the dollars the prices.
func TestCosts(t *testing.T) {
	plan, err := Parse("e.yaml", []byte(campaignBase+"gpu_model: H100, mfu: 40%, gpu_price: 2.00, success: {probability: 50%, gpus: 10, for: 10d}}\n"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Costs(plan, []string{"H100", "A100-80GB", "P40"}, prices.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	c := list.Campaigns[0]
	if len(list.Campaigns) != 2 || list.Campaigns[1].GPUHours != 2400 || list.Campaigns[1].Total.USD != 4800*capcli.Dollar || list.Campaigns[1].Probability != 0.5 {
		t.Errorf("campaigns %+v", list.Campaigns)
	}
	if want := capcli.Cost(2*capcli.Dollar, capcli.GPUTime(512*int64(c.Length)*1000)); c.Terms[0].USD != want {
		t.Errorf("GPUs cost %s, want %s", c.Terms[0].USD, want)
	}
	if h, a := c.Models[0], c.Models[1]; math.Abs(h.GPUHours-c.GPUHours) > 1e-6 || math.Abs(a.GPUHours/h.GPUHours-989.0/312) > 1e-9 || a.USD == nil {
		t.Errorf("by model %+v", c.Models)
	}
	if c.Models[2].Why == "" {
		t.Error("a P40 trains in bf16")
	}
	if _, err := Costs(plan, []string{"H1000"}, prices.Catalogue()); err == nil || !strings.Contains(err.Error(), "H1000") {
		t.Errorf("an unknown model: %v", err)
	}
}

// TestLawIsOfLanguageModels: a vision transformer has patches of images for tokens, of which the scaling law of
// language models says nothing. tokens_of decides, and a name says it where that is left out.
func TestLawIsOfLanguageModels(t *testing.T) {
	for _, tt := range []struct {
		name, fields string
		told         bool
	}{
		{"gen5", "", true},
		{"activity model", "", true},
		{"ViT-22B", "", false},
		{"dinov2 giant", "", false},
		{"gen5", "class: vision, ", false},
		{"gen5", "tokens_of: images, ", false},
		{"flux capacitor", "tokens_of: text, ", true},
		{"next", "tokens_of: other, ", false},
	} {
		text := "capcli: events/v1\nevents:\n  - {name: " + tt.name + ", kind: campaign, from: 2027-03-01, gpus: 512, parameters: 22B, tokens: 2T, " + tt.fields + "gpu_model: H100, mfu: 40%}\n"
		plan, err := Parse("e.yaml", []byte(text), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		list, err := Costs(plan, nil, prices.Catalogue())
		if err != nil {
			t.Fatal(err)
		}
		if c := list.Campaigns[0]; (c.Law != nil) != tt.told || c.GPUHours == 0 {
			t.Errorf("%s {%s}: law %+v of %.0f GPU-hours, want one: %v", tt.name, tt.fields, c.Law, c.GPUHours, tt.told)
		}
	}
	if _, err := Parse("e.yaml", []byte(campaignBase+"tokens_of: pixels, gpu_model: H100, mfu: 40%}\n"), nil, nil); err == nil || !strings.Contains(err.Error(), "images") {
		t.Errorf("tokens of pixels: %v", err)
	}
}
