package service_test

import (
	"io"
	"strings"
	"testing"

	"capcli/simulate/serving/service"
)

func parse(t *testing.T, text string) *service.Spec {
	t.Helper()
	s, err := service.Parse("service.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestModelFillsConfig(t *testing.T) {
	s := parse(t, "name: chat\nmodel: llama-3.1-70b\ngpu_model: H100\ntensor_parallel: 4\nweights: fp8\nkv: 16\n")
	c := &s.Config
	// 80 GiB · 0.9 - ceil(70553706496 / 4) - 3.5 GiB, over 2·80·2·128·2 bytes of 16 tokens each.
	if c.Blocks != 42658 || c.GPUs != 4 || c.BlockSize != 16 {
		t.Errorf("%d blocks of %d tokens on %d GPUs, want 42658 of 16 on 4", c.Blocks, c.BlockSize, c.GPUs)
	}
	// Reading 17.6 GB of weights at 3.35 TB/s takes 5.3 ms at least.
	if us := c.Time.Micros(1, 1, 1000, 0); us < 5300 || us > 20_000 {
		t.Errorf("a step of one sequence takes %d us", us)
	}
	e := s.Estimate
	if e.Origin.Source == "" || !(e.Origin.Decode.Mean > 0 && e.Origin.Decode.Mean < 0.05) {
		t.Errorf("origin %+v has no source or no error", e.Origin)
	}
}

func TestModelOfOwn(t *testing.T) {
	const model = "model: {parameters: 8030261248, layers: 32, heads: 32, kv_heads: 8, head_dim: 128, hidden: 4096, intermediate: 14336, vocabulary: 128256}\n"
	own := parse(t, model+"gpu_model: A100\n")
	known := parse(t, "model: llama-3.1-8b\ngpu_model: A100\n")
	if own.Config.Blocks != known.Config.Blocks {
		t.Errorf("%d and %d blocks of the same model", own.Config.Blocks, known.Config.Blocks)
	}
	for _, batch := range []int64{1, 16, 128} {
		a, b := own.Config.Time.Micros(batch, batch, batch*1000, 0), known.Config.Time.Micros(batch, batch, batch*1000, 0)
		if d := float64(a)/float64(b) - 1; d > 0.05 || d < -0.05 {
			t.Errorf("batch %d: %d us by its numbers, %d us by its name", batch, a, b)
		}
	}
}

func TestModelFactors(t *testing.T) {
	base := parse(t, "model: llama-3.1-8b\ngpu_model: H100\n").Config.Time
	half := parse(t, "model: llama-3.1-8b\ngpu_model: H100\nquantised: {time: 0.5}\n").Config.Time
	if a, b := base.Picoseconds(64, 64, 64000, 0), half.Picoseconds(64, 64, 64000, 0); b < a/2-10 || b > a/2+10 {
		t.Errorf("%d ps, want half of %d", b, a)
	}
	c := parse(t, "model: llama-3.1-8b\ngpu_model: H100\ncalibration: {factor: 1.1, c0: 300us, seq: 5us}\n")
	want := base.Picoseconds(64, 64, 64000, 0)*11/10 + 300e6 + 64*5e6
	if got := c.Config.Time.Picoseconds(64, 64, 64000, 0); got < want-50_000 || got > want+50_000 {
		t.Errorf("%d ps calibrated, want %d", got, want)
	}
	if len(c.Estimate.Origin.Stated) != 1 {
		t.Errorf("the calibration is not said: %v", c.Estimate.Origin)
	}
}

func TestTimeTable(t *testing.T) {
	s := parse(t, "model: llama-3.1-8b\ngpu_model: H100\ntime_table: mine.csv\n")
	var table strings.Builder
	table.WriteString("tokens,sequences,kv,us\n")
	for _, row := range []string{"1,1,100,5010", "8,8,800,5080", "16,16,4000,5400", "32,32,64000,11000", "64,64,32000,8000", "128,128,128000,17000", "256,256,64000,12000", "512,512,51200,15000", "4,4,4000,5300"} {
		table.WriteString(row + "\n")
	}
	err := s.ReadTimeTable(func(name string) (io.ReadCloser, error) {
		if name != "mine.csv" {
			t.Errorf("opened %s", name)
		}
		return io.NopCloser(strings.NewReader(table.String())), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if us := s.Config.Time.Micros(64, 64, 32000, 0); us < 7000 || us > 9000 {
		t.Errorf("%d us, measured 8000", us)
	}
	if !strings.Contains(s.Estimate.Origin.Source, "9 measured iterations") {
		t.Errorf("source %q", s.Estimate.Origin.Source)
	}
}

func TestModelRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"model: llama-3.1-71b\ngpu_model: H100\n", `did you mean "llama-3.1-70b"?`},
		{"model: llama-3.1-8b\ngpu_model: H1000\n", `unknown gpu_model "H1000"`},
		{"model: llama-3.1-70b\ngpu_model: H100\n", "62.9 GiB are missing on each GPU; it fits with tensor_parallel: 2, or with weights of 8 bits"},
		{"model: llama-3.1-8b\ngpu_model: A100\nweights: fp8\n", "quantised: {time: 0.7}"},
		{"model: llama-3.1-8b\ngpu_model: H100\nweights: 4bit\n", "no measurements of weights of 4 bits"},
		{"model: llama-3.1-8b\ngpu_model: H100\ntensor_parallel: 3\n", "divisor of the 32 heads"},
		{"gpu_model: H100\n", "gpu_model needs model and gpu_model"},
		{"model: {parameters: 7, layers: 1}\ngpu_model: H100\n", "heads is missing"},
		{"model: llama-3.1-8b\ngpu_model: H100\nkv: 4\n", "unknown precision"},
		{"model: llama-3.1-8b\ngpu_model: H100\ncalibration: {factor: 0}\n", "want 0.01 to 100"},
		{"model: llama-3.1-8b\ngpu_model: H100\nutilisation: 1.2\n", "a share such as 0.9"},
	} {
		_, err := service.Parse("service.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}
