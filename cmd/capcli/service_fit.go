package main

import (
	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/simulate/serving/roofline"
)

// serviceFitOptions are the flags of capcli service fit.
type serviceFitOptions struct {
	output outputOptions
	ask    roofline.FitRequest
	config string
	input  string
}

func newServiceFit(e *env) *cobra.Command {
	o := serviceFitOptions{ask: roofline.FitRequest{Question: roofline.DefaultQuestion(), Chunk: 8192}}
	cmd := &cobra.Command{
		Use:   "fit --measurements FILE",
		Short: "Fit the time of iterations to measurements of your own server",
		Long: "service fit reads a table of measurements, CSV, packed or not, and prints a block for a SPEC. A table of a whole\n" +
			"server under steady load (batch,tokens_in,tokens_out,tpot_ms) calibrates the time of --model on --gpu: a factor, an\n" +
			"overhead of each iteration and one of each request. A table of iterations (tokens,sequences,kv,us) gives a time of\n" +
			"its own. Each row is judged by a fit that does not see it, so the error is that of rows to come. Columns engine,\n" +
			"model, gpu, tp and weights, where the table has them, make a calibration for each server.",
		Example: "  capcli service fit --measurements bench.csv --model llama-3.1-70b --gpu H100 --tp 4 --weights fp8\n" +
			"  capcli service fit --measurements iterations.csv -o json",
		Args: wantArgs(),
		RunE: func(*cobra.Command, []string) error { return runServiceFit(e, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.input, "measurements", "", "table of measurements: `FILE` (required)")
	f.StringVar(&o.ask.Question.Model, "model", "", "model that was measured: `NAME`")
	f.Int64Var(&o.ask.Chunk, "chunk", o.ask.Chunk, "most tokens of an iteration on that server: `N`")
	complete(cmd, "model", func() []string { return entries(&roofline.Models) })
	addModelFlags(cmd, &o.ask.Question, &o.config)
	addOutputFlags(cmd, &o.output)
	return cmd
}

func runServiceFit(e *env, o *serviceFitOptions) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if o.input == "" {
		return &usageError{text: "service fit wants --measurements FILE", hint: "capcli service fit --help"}
	}
	if err := readModelConfig(e, o.config, &o.ask.Question); err != nil {
		return err
	}
	text, file, done, err := openText(e, o.input)
	if err != nil {
		return err
	}
	defer func() { _ = done.Close() }()
	fit, err := o.ask.Fit(file, text)
	if err != nil {
		return err
	}
	shown := []report.Table{linesTable(fit.Lines())}
	if len(fit.Groups) > 1 {
		shown = append(shown, report.Fill(report.Table{Name: "servers", Title: "Servers"}, fit.Calibrated(), []report.Field[roofline.GroupFit]{
			{Name: "engine", Priority: 1},
			{Name: "model"},
			{Name: "gpu", Head: "GPU"},
			{Name: "tensor_parallel", Head: "GPUs"},
			{Name: "weights", Priority: 1},
			{Name: "rows"},
			{Name: "error_without", Head: "error before", As: report.AsPercent, Cell: func(g roofline.GroupFit) any { return g.Without.Mean }},
			{Name: "held_out_error", Head: "error after", As: report.AsPercent, Cell: func(g roofline.GroupFit) any { return g.HeldOut.Mean }},
		}))
	} else {
		shown = append(shown, report.Fill(report.Table{Name: "rows", Title: "Measured and fitted", Most: 20}, fit.Predicted, fittedFields(fit.Kind)))
	}
	return emit(e, o.output, report.Doc{Lead: fit.Summary(), Data: fit, Notes: fit.Remarks(), Tables: shown})
}

// linesTable shows lines to paste into a SPEC.
func linesTable(lines []string) report.Table {
	t := report.Table{Name: "spec", Title: "Lines of a SPEC", Columns: []report.Column{{Name: "line"}}}
	for _, l := range lines {
		t.Rows = append(t.Rows, []any{l})
	}
	return t
}

func fittedFields(kind string) []report.Field[roofline.Predicted] {
	what := []report.Field[roofline.Predicted]{{Name: "tokens"}, {Name: "batch", Head: "requests"}}
	if kind == "server" {
		what = []report.Field[roofline.Predicted]{
			{Name: "batch", Head: "requests"},
			{Name: "tokens_in", Head: "prompt tokens"},
			{Name: "tokens_out", Head: "answer tokens"},
			{Name: "present", Head: "requests that fit", Priority: 1},
		}
	}
	return append(what, report.Field[roofline.Predicted]{Name: "measured_ms", Head: "measured ms"}, report.Field[roofline.Predicted]{Name: "fitted_ms", Head: "fitted ms"},
		report.Field[roofline.Predicted]{Name: "deviation", As: report.AsPercent})
}
