package readings

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"capcli/profile"
)

func fieldsOf(line string) string {
	var out []string
	if !Line([]byte(line), func(name, value []byte) { out = append(out, string(name)+"="+string(value)) }) {
		return "-"
	}
	return strings.Join(out, " ")
}

func TestLine(t *testing.T) {
	tests := []struct{ line, want string }{
		{`{"tokens_per_s": 123, "step": 7, "mfu": 0.41}`, "tokens_per_s=123 step=7 mfu=0.41"},
		{`{"a": {"b": [1, "}"]}, "run": "x y", "ok": true, "loss": NaN, "n": -1.5e3}`, "run=x y n=-1.5e3"},
		{`step=7 tokens_per_s=1234`, "step=7 tokens_per_s=1234"},
		{`2026-11-23T10:00:00Z INFO trainer step=7, tok/s=1,234 msg="a b"`, `step=7 tok/s=1 msg=a b`},
		{` iteration       10/    1000 | consumed samples:         2560 | elapsed time per iteration (ms): 812.4 | throughput per GPU (TFLOP/s/GPU): 401.2 | loss: 1.2E+00 |`, "consumed samples=2560 elapsed time per iteration (ms)=812.4 throughput per GPU (TFLOP/s/GPU)=401.2 loss=1.2E+00"},
		{`{"tokens_per_s": 123, "st`, "-"},
		{`{"a": 1} {"b": 2}`, "-"},
		{`{}`, "-"},
		{``, "-"},
		{`plain words`, "-"},
	}
	for _, tt := range tests {
		if got := fieldsOf(tt.line); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.line, got, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	b := newBook(nil)
	tests := []struct {
		name string
		want string
	}{
		{"tokens_per_sec", profile.ToldTokens},
		{"tokens/s", profile.ToldTokens},
		{"throughput/tokens_per_sec", profile.ToldTokens},
		{"throughput/device/tokens_per_sec", profile.ToldGPUTokens},
		{"train_samples_per_second", profile.ToldSamples},
		{"elapsed time per iteration (ms)", profile.ToldStep},
		{"throughput per GPU (TFLOP/s/GPU)", profile.ToldTFLOPS},
		{"vllm:generation_tokens_total", profile.ToldTokens},
		{"MFU", profile.ToldMFU},
		{"loss", ""},
		{"grad_norm", ""},
	}
	for _, tt := range tests {
		if got, _ := b.find([]byte(tt.name)); got.name != tt.want {
			t.Errorf("%s is %q, want %q", tt.name, got.name, tt.want)
		}
	}
}

// FuzzLine: any line is read without a panic, and the numbers of a JSON object are those that encoding/json sees.
func FuzzLine(f *testing.F) {
	f.Add(`{"tokens_per_s": 123, "x": {"y": 1}, "z": "t"}`)
	f.Add(`step=7 tokens_per_s=1234 a="b c"`)
	f.Add(`iteration 10/ 1000 | consumed samples: 2560 | x: 1`)
	f.Fuzz(func(t *testing.T, line string) {
		got := map[string]float64{}
		ok := Line([]byte(line), func(name, value []byte) {
			if v, err := strconv.ParseFloat(string(value), 64); err == nil {
				got[string(name)] = v
			}
		})
		newBook(nil).line([]byte(line), 1)
		var want map[string]any
		if !strings.HasPrefix(strings.TrimSpace(line), "{") || strings.Contains(line, `\`) || json.Unmarshal([]byte(line), &want) != nil || len(want) == 0 || len(want) > 100 {
			return
		}
		if !ok && strings.Count(line, ":") < mostFields {
			t.Fatalf("%q is an object", line)
		}
		for k, v := range want {
			if x, number := v.(float64); number && got[k] != x && strings.Count(line, k) == 1 {
				t.Fatalf("%s of %q is %g, want %g", k, line, got[k], x)
			}
		}
	})
}
