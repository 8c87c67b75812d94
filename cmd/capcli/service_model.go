package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/simulate/serving/roofline"
)

// serviceModelOptions are the flags of capcli service model.
type serviceModelOptions struct {
	output outputOptions
	ask    roofline.Question
	config string
}

func newServiceModel(e *env) *cobra.Command {
	o := serviceModelOptions{ask: roofline.DefaultQuestion()}
	cmd := &cobra.Command{
		Use:   "model [NAME]",
		Short: "Show a model on GPUs: its memory, requests at once, and the time of an iteration with its error",
		Long: "service model says what a dense language model needs of its GPUs: bytes of weights, bytes of KV cache for a token,\n" +
			"blocks, how many requests of a length fit at once; and how long an iteration takes, as coefficients that a SPEC\n" +
			"takes (time:), with their source and error. Without NAME it lists the known models and GPUs. --config reads the\n" +
			"config.json of any other dense model. A model that does not fit says by how much, and what would fit.",
		Example: "  capcli service model\n" +
			"  capcli service model llama-3.1-70b --gpu H100 --tp 4 --weights fp8\n" +
			"  capcli service model qwen3-32b --gpu H200 --length 32768 -o json",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runServiceModel(e, &o, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return entries(&roofline.Models), cobra.ShellCompDirectiveNoFileComp
		},
	}
	addModelFlags(cmd, &o.ask, &o.config)
	cmd.Flags().Int64Var(&o.ask.Length, "length", 0, "say how many requests of this many tokens, prompt and answer, fit at once: `N` (default: usual lengths)")
	addOutputFlags(cmd, &o.output)
	return cmd
}

// addModelFlags adds the flags that say which model runs on which GPUs.
func addModelFlags(cmd *cobra.Command, q *roofline.Question, config *string) {
	f := cmd.Flags()
	f.StringVar(&q.GPU, "gpu", "", "kind of GPU, `NAME` such as H100")
	f.Int64Var(&q.GPUs, "tp", q.GPUs, "GPUs that share one copy of the model (tensor parallel): `N`")
	f.StringVar(&q.Weights, "weights", q.Weights, "precision of the weights: `bf16`, fp8, 8bit, 4bit")
	f.StringVar(&q.Cache, "kv", q.Cache, "precision of the KV cache: `bf16` or fp8")
	f.Float64Var(&q.Quantised, "quantised", 0, "stated factor on the time, for weights whose precision was not measured on the GPU: `0.7`")
	f.Float64Var(&q.Utilisation, "utilisation", q.Utilisation, "share of a GPU's memory that may be used: `0.9`")
	f.Float64Var(&q.ReserveGiB, "reserve", q.ReserveGiB, "memory of a GPU for activations and the runtime: `GIB`")
	f.StringVar(config, "config", "", "config.json of a model that is not known: `FILE`")
	complete(cmd, "gpu", func() []string { return entries(&roofline.GPUs) })
	complete(cmd, "weights", func() []string { return []string{"bf16", "fp8", "8bit", "4bit"} })
	complete(cmd, "kv", func() []string { return []string{"bf16", "fp8"} })
}

func runServiceModel(e *env, o *serviceModelOptions, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if len(args) == 0 && o.config == "" {
		return emit(e, o.output, modelListDoc(roofline.List()))
	}
	if len(args) > 0 {
		o.ask.Model = args[0]
	}
	if err := readModelConfig(e, o.config, &o.ask); err != nil {
		return err
	}
	answer, err := o.ask.Estimate()
	if err != nil {
		return err
	}
	return emit(e, o.output, modelDoc(answer))
}

// readModelConfig reads the numbers of a model from its config.json, if one is named.
func readModelConfig(e *env, name string, q *roofline.Question) error {
	if name == "" {
		return nil
	}
	text, file, done, err := openText(e, name)
	if err != nil {
		return err
	}
	defer func() { _ = done.Close() }()
	q.Own, err = roofline.ReadConfig(file, text)
	return err
}

func modelListDoc(l *roofline.ModelList) report.Doc {
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

func modelDoc(a *roofline.Estimate) report.Doc {
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
			linesTable(a.Lines()),
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
