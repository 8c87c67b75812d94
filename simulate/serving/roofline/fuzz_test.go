package roofline

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"capcli"
)

// FuzzTables holds that the readers of tables end with rows or an error of the input, and never with a
// time that is no number.
func FuzzTables(f *testing.F) {
	for _, seed := range []string{
		"batch,tokens_in,tokens_out,tpot_ms\n1,1000,200,7.3\n4,1000,200,7.7\n8,2000,200,9.5\n16,1000,400,8.8\n",
		"tokens,sequences,kv,us\n1,1,100,5010\n8,8,800,5080\n16,16,4000,5400\n32,32,64000,11000\n64,64,32000,8000\n128,128,128000,17000\n256,256,64000,12000\n512,512,51200,15000\n",
		"tokens;sequences;kv;pa;us\n1;1;0;1;1e-300\n",
		"batch,tokens_in,tokens_out,tpot_ms,ttft_ms\n65536,100000000,1,1e15,0\n",
		"batch,tokens_in,tokens_out,tpot_ms\n,,,\n",
		"batch\n", "", "\"", "us\n",
	} {
		f.Add([]byte(seed))
	}
	q := DefaultQuestion()
	q.Model, q.GPU = "llama-3.1-8b", "H100"
	f.Fuzz(func(t *testing.T, b []byte) {
		ask := FitRequest{Question: q, Chunk: 8192}
		fit, err := ask.Fit("in.csv", bytes.NewReader(b))
		if err != nil {
			var in *capcli.InputError
			var asked *capcli.RequestError
			if !errors.As(err, &in) && !errors.As(err, &asked) {
				t.Fatalf("an error of neither the input nor the request: %v", err)
			}
			return
		}
		if !fit.HeldOut.Mean.IsKnown() {
			t.Fatalf("the error of %d rows is no number", fit.Rows)
		}
		checkTime(t, "the fit", fit.Time.C0, fit.Time.Seq, fit.Time.KV, fit.Time.PA)
	})
}

// FuzzConfig holds that a config.json is a sound model or an error.
func FuzzConfig(f *testing.F) {
	f.Add(`{"num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096, "intermediate_size": 14336, "vocab_size": 128256}`)
	f.Add(`{"num_hidden_layers": 9223372036854775807, "num_attention_heads": 1, "hidden_size": 1}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ReadConfig("config.json", strings.NewReader(text))
		if err != nil {
			return
		}
		if err := m.Check(); err != nil {
			t.Fatalf("%+v: %v", m, err)
		}
		q := DefaultQuestion()
		q.Own, q.GPU = m, "H200"
		if e, err := q.Estimate(); err == nil {
			checkTime(t, "the model", e.Time.C0, e.Time.Seq, e.Time.KV, e.Time.PA)
		}
	})
}

func checkTime(t *testing.T, what string, parts ...int64) {
	t.Helper()
	for _, p := range parts {
		if p < 0 || p > 1<<61 {
			t.Fatalf("%s has a part of %d ps", what, p)
		}
	}
}
