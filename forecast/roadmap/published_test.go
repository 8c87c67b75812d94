package roadmap

import (
	"fmt"
	"math"
	"testing"
)

// published are training runs whose size and GPU-hours, or operations, are public. MFU is the published
// one; 0 where none is, and then the run is one to scale to.
var published = []struct {
	name          string
	n, d          float64 // parameters that are computed, tokens
	peak, mfu     float64
	flops, hours  float64 // as published; 0 is not
	least, most   float64 // our GPU-hours with the usual buffer over the published ones
	source        string
	countsRepeats bool // the published figure says that it counts repeated work
}{
	{"GPT-3 175B", 174.6e9, 300e9, 125e12, 0.213, 3.14e23, 0, 0, 0, "Brown et al. 2020, table D.1; MFU of Chowdhery et al. 2022, table 3", false},
	{"PaLM 540B", 540.35e9, 780e9, 275e12, 0.462, 2.53e24, 6144*1200 + 3072*336, 0.70, 1.05, "Chowdhery et al. 2022, table 3 and appendix B, with downtime and repeated steps", true},
	{"OPT 175B", 175e9, 300e9, 312e12, 147.0 / 312, 0, 809_472, 0.75, 1.05, "Zhang et al. 2022, 147 TFLOPS a GPU; GPU-hours of Touvron et al. 2023, table 15", true},
	{"BLOOM 176B", 176.2e9, 366e9, 312e12, 150.0 / 312, 0, 1_082_990, 0.70, 1.05, "Scao et al. 2022, 150 TFLOPS a GPU; GPU-hours of Luccioni et al. 2022", true},
	{"GPT-NeoX 20B", 20.6e9, 472e9, 312e12, 117.0 / 312, 0, 175_680, 0.80, 1.20, "Black et al. 2022: 96 A100 for 1830 hours at 117 TFLOPS a GPU", false},
	{"LLaMA 65B", 65.2e9, 1.4e12, 312e12, 380.0 * 6 * 65.2e9 / 312e12, 0, 1_022_362, 0.95, 1.25, "Touvron et al. 2023: 380 tokens a second and GPU, table 15", false},
	{"Llama 3.1 405B", 405e9, 15.6e12, 989e12, 0.405, 3.8e25, 30.84e6, 0.90, 1.10, "Grattafiori et al. 2024: 38 to 43 % MFU; GPU-hours of the model card", true},
}

// TestPublishedRuns holds operations and GPU-hours against public figures of large runs. Run it with -v for
// the table. What the buffer of 15 to 25 % leaves open is restarts at scale: runs that say that they count
// all repeated work took up to 1.3 times what we plan.
func TestPublishedRuns(t *testing.T) {
	for _, p := range published {
		c := Campaign{Name: p.name, Parameters: p.n, Tokens: p.d, PeakFLOPS: p.peak, MFU: p.mfu, GPUs: 1024}
		got, err := c.Cost()
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%-14s %.3g operations", p.name, got.FLOPs)
		if p.flops > 0 {
			text += fmt.Sprintf(", published %.3g (%+.1f %%)", p.flops, 100*(got.FLOPs/p.flops-1))
			if math.Abs(got.FLOPs/p.flops-1) > 0.02 {
				t.Errorf("%s: %.4g operations, want %.3g within 2 %%", p.name, got.FLOPs, p.flops)
			}
		}
		if p.hours > 0 {
			ratio := got.GPUHours / p.hours
			text += fmt.Sprintf("; %.3g GPU-hours (%.3g to %.3g), published %.3g: %.2f times", got.GPUHours, got.Lo, got.Hi, p.hours, ratio)
			if ratio < p.least || ratio > p.most {
				t.Errorf("%s: %.4g GPU-hours, %.2f times the published, want %.2f to %.2f", p.name, got.GPUHours, ratio, p.least, p.most)
			}
		}
		t.Logf("%s; %s", text, p.source)
	}
}

// families are models of one family, trained alike: GPU-hours of the model cards of Llama 2 (Touvron et al.
// 2023) and LLaMA (the same, table 15).
var families = []struct {
	name            string
	from, to        PastRun
	inRange         bool // the published figure lies in our range
	least, greatest float64
}{
	{"Llama 2 7B to 13B", PastRun{6.74e9, 2e12, 184_320, 1024}, PastRun{13.0e9, 2e12, 368_640, 1024}, true, 0.9, 1.1},
	{"Llama 2 7B to 34B", PastRun{6.74e9, 2e12, 184_320, 1024}, PastRun{33.7e9, 2e12, 1_038_336, 1024}, true, 0.85, 1.1},
	{"Llama 2 7B to 70B", PastRun{6.74e9, 2e12, 184_320, 1024}, PastRun{69.0e9, 2e12, 1_720_320, 1024}, true, 0.9, 1.15},
	{"LLaMA 7B to 13B", PastRun{6.7e9, 1e12, 82_432, 1024}, PastRun{13.0e9, 1e12, 135_168, 1024}, false, 1.1, 1.25},
	{"LLaMA 33B to 65B", PastRun{32.5e9, 1.4e12, 530_432, 1024}, PastRun{65.2e9, 1.4e12, 1_022_362, 1024}, true, 0.95, 1.1},
	{"LLaMA 7B to 65B", PastRun{6.7e9, 1e12, 82_432, 1024}, PastRun{65.2e9, 1.4e12, 1_022_362, 1024}, true, 1, 1.2},
}

// TestScalingOfFamilies scales one run of a family to another and compares with what that took.
func TestScalingOfFamilies(t *testing.T) {
	for _, f := range families {
		c := Campaign{Parameters: f.to.Parameters, Tokens: f.to.Tokens, GPUs: f.to.GPUs, Failures: -1, Past: &f.from}
		got, err := c.Cost()
		if err != nil {
			t.Fatal(err)
		}
		ratio := got.GPUHours / f.to.GPUHours
		t.Logf("%s: %.4g GPU-hours (%.4g to %.4g), published %.4g: %.2f times", f.name, got.GPUHours, got.Lo, got.Hi, f.to.GPUHours, ratio)
		if ratio < f.least || ratio > f.greatest {
			t.Errorf("%s: %.2f times the published, want %.2f to %.2f", f.name, ratio, f.least, f.greatest)
		}
		// The range without the buffer, which the published figures contain.
		if in := got.Lo <= f.to.GPUHours && f.to.GPUHours <= got.Hi/(1+bufferTop); in != f.inRange {
			t.Errorf("%s: %.4g lies in %.4g to %.4g: %v, want %v", f.name, f.to.GPUHours, got.Lo, got.Hi/(1+bufferTop), in, f.inRange)
		}
	}
}

// TestScaling: a doubling costs what it is said to, both ways, and the range holds the middle.
func TestScaling(t *testing.T) {
	past := &PastRun{Parameters: 1e9, Tokens: 1e12, GPUHours: 1000, GPUs: 8}
	for _, tt := range []struct {
		n, d        float64
		s           Scaling
		lo, mid, hi float64
	}{
		{2e9, 1e12, Scaling{}, 1800, 2000, 2200},
		{4e9, 1e12, Scaling{}, 3240, 4000, 4840},
		{1e9, 2e12, Scaling{}, 2000, 2000, 2000},
		{5e8, 1e12, Scaling{}, 1000 / 2.2, 500, 1000 / 1.8},
		{2e9, 2e12, Scaling{Parameters: Growth{2.1, 2.1, 2.1}, Tokens: Growth{1.5, 1.75, 2}}, 3150, 3675, 4200},
	} {
		c := Campaign{Parameters: tt.n, Tokens: tt.d, GPUs: 8, Failures: -1, Past: past, Scaling: tt.s}
		got, err := c.Cost()
		if err != nil {
			t.Fatal(err)
		}
		for i, pair := range [][2]float64{{got.Lo, tt.lo}, {got.GPUHours, tt.mid}, {got.Hi / (1 + bufferTop), tt.hi}} {
			if math.Abs(pair[0]-pair[1]) > 1e-6*pair[1] {
				t.Errorf("%g parameters, %g tokens: figure %d is %g, want %g", tt.n, tt.d, i, pair[0], pair[1])
			}
		}
	}
}

// TestComputeOptimal: Chinchilla's own operations, 5.88e23, are best spent on about its own size, 70B and
// 1.4T (Hoffmann et al. 2022); no other split of as many operations has less loss.
func TestComputeOptimal(t *testing.T) {
	n, d := ComputeOptimal(5.88e23)
	if n < 60e9 || n > 90e9 || math.Abs(6*n*d/5.88e23-1) > 1e-9 {
		t.Errorf("%.3g parameters and %.3g tokens", n, d)
	}
	best := Loss(n, d)
	for _, f := range []float64{0.5, 0.8, 0.95, 1.05, 1.3, 2} {
		if l := Loss(n*f, d/f); l <= best {
			t.Errorf("%g times the size has a loss of %g, under %g", f, l, best)
		}
	}
}

// TestMoneyTerms holds each term against its closed form.
func TestMoneyTerms(t *testing.T) {
	price := usd(2)
	c := Campaign{
		Parameters: 1e9, Tokens: 1e12, PeakFLOPS: 1e15, MFU: 0.4, GPUs: 8, Failures: -1, Evaluation: 0.1, Ablations: 0.3,
		Prices: Prices{
			GPU: &price, Data: &Data{TokenisePerTB: usd(50), StoragePerGB: usd(0.02), Copies: 2, EgressPerGB: usd(0.1), Transfers: 3},
			Checkpoints: &Checkpoints{Every: 3600, Keep: 4, StoragePerGB: usd(1)}, Energy: &Energy{Watts: 500, PUE: 1.2, PerKWh: usd(0.1)},
			People: &People{Count: 2, PerMonth: usd(7300), Before: 730 * 3600},
		},
	}
	got, err := c.Cost()
	if err != nil {
		t.Fatal(err)
	}
	run := 6e21 / 4e14 / 3600 // GPU-hours
	if math.Abs(got.GPUHours-1.4*run) > 1e-9*run || math.Abs(got.Parts[2].GPUHours-0.3*run) > 1e-9*run {
		t.Errorf("%+v, want 1.4 times %g GPU-hours", got, run)
	}
	hours := float64(got.Length) / 3600
	want := map[string]float64{
		"GPUs": 2 * 8 * hours, "tokenisation": 4 * 50, "storage of data": 4000 * 2 * 0.02 * hours / 730, "egress": 4000 * 3 * 0.1,
		"checkpoints": 14 * stored(float64(got.Length), 3600, 4) / 3600 / 730, "energy": 0.5 * 1.2 * 8 * hours * 0.1, "people": 2 * 7300 * (hours + 730) / 730,
	}
	sum := 0.0
	for _, term := range got.Terms {
		if math.Abs(term.USD.Float()-want[term.Name]) > 1e-4 || term.Lo > term.USD || term.Hi < term.USD {
			t.Errorf("%s: %s (%s to %s), want $%.4f", term.Name, term.USD, term.Lo, term.Hi, want[term.Name])
		}
		sum += term.USD.Float()
		delete(want, term.Name)
	}
	if len(want) > 0 || math.Abs(got.Total.USD.Float()-sum) > 1e-5 {
		t.Errorf("terms %v are missing; the total is %s, want $%.4f", want, got.Total.USD, sum)
	}
}

// stored adds up for how long checkpoints are stored, one by one.
func stored(s, every float64, keep int) (sum float64) {
	for i := 1.0; i*every <= s; i++ {
		until := s
		if gone := (i + float64(keep)) * every; gone <= s {
			until = gone
		}
		sum += until - i*every
	}
	return sum
}

func TestCheckpointsStored(t *testing.T) {
	for _, s := range []float64{0, 1, 3599, 3600, 10_000, 36_000, 36_001, 1e6} {
		for _, keep := range []int{1, 2, 7, 0} {
			k := Checkpoints{Every: 3600, Keep: keep}
			all := keep
			if keep == 0 {
				all = 1 << 30
			}
			if got, want := k.storedSeconds(s), stored(s, 3600, all); math.Abs(got-want) > 1e-6*(1+want) {
				t.Errorf("%g s, keep %d: %g, want %g", s, keep, got, want)
			}
		}
	}
}
