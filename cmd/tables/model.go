package tables

import (
	"fmt"

	"capcli/cmd/report"
	"capcli/simulate/serving/roofline"
)

// ModelListDoc is the report of the known language models.
func ModelListDoc(l *roofline.ModelList) report.Doc {
	return report.Doc{
		Lead: fmt.Sprintf("%d models and %d kinds of GPUs are known; any other dense model by its numbers (--config, or model: {…} in a SPEC).", len(l.Models), len(l.GPUs)),
		Data: l,
		Tables: []report.Table{
			report.Fill(report.Table{Name: "models"}, l.Models, []report.Field[roofline.Model]{
				{Name: "name", Head: "model"},
				{Name: "parameters"},
				{Name: "layers", Priority: 1},
				{Name: "heads", Priority: 2},
				{Name: "kv_heads", Head: "KV heads", Priority: 1},
				{Name: "head_dim", Head: "size of a head", Priority: 3},
				{Name: "hidden", Priority: 3},
				{Name: "intermediate", Priority: 3},
				{Name: "vocabulary", Priority: 3},
				{Name: "source", Priority: 4},
			}),
			report.Fill(report.Table{Name: "gpus"}, l.GPUs, []report.Field[roofline.GPU]{{Name: "name", Head: "GPU"}, {Name: "bytes"}, {Name: "source", Priority: 4}}),
		},
	}
}

// ModelDoc is the report of a model on a GPU: times and room.
func ModelDoc(a *roofline.Estimate) report.Doc {
	return report.Doc{
		Lead: a.Summary(), Data: a, Notes: a.Remarks(),
		Tables: []report.Table{
			report.Fill(report.Table{Name: "concurrency", Title: "Requests at once, and the time of a step that decodes them"}, a.Room, []report.Field[roofline.Room]{
				{Name: "tokens", Head: "tokens of a request"}, {Name: "sequences", Head: "requests at once"}, {Name: "decode_us", Head: "decode step µs", Cell: decodeCell},
			}),
			report.Figures("figures", a, []report.Field[*roofline.Estimate]{
				{Name: "weight_bytes_per_gpu", Head: "bytes of weights on each GPU", Cell: func(a *roofline.Estimate) any { return a.Memory.WeightBytes }},
				{Name: "kv_bytes_per_token_per_gpu", Head: "bytes of KV cache of a token on each GPU", Cell: func(a *roofline.Estimate) any { return a.Memory.TokenBytes }},
				{Name: "blocks", Head: "blocks of the KV cache", Cell: func(a *roofline.Estimate) any { return a.Memory.Blocks }},
				{Name: "tokens", Head: "tokens in the KV cache", Cell: func(a *roofline.Estimate) any { return a.Memory.Tokens }},
				{Name: "decode_error_mean", Head: "error of decoding, mean", As: report.AsPercent, Cell: func(a *roofline.Estimate) any { return a.Origin.Decode.Mean }},
				{Name: "decode_error_p90", Head: "error of decoding, p90", As: report.AsPercent, Cell: func(a *roofline.Estimate) any { return a.Origin.Decode.P90 }},
				{Name: "prefill_error_mean", Head: "error of prefill, mean", As: report.AsPercent, Cell: func(a *roofline.Estimate) any { return a.Origin.Prefill.Mean }},
				{Name: "prefill_error_p90", Head: "error of prefill, p90", As: report.AsPercent, Cell: func(a *roofline.Estimate) any { return a.Origin.Prefill.P90 }},
			}),
			LinesTable(a.Lines()),
		},
	}
}

// decodeCell is empty where the time is not known.
func decodeCell(r roofline.Room) any {
	if r.Micros == 0 {
		return nil
	}
	return r.Micros
}
