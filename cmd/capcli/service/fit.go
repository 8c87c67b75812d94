package service

import (
	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/simulate/serving/roofline"
)

// serviceFitOptions are the flags of capcli service fit.
type serviceFitOptions struct {
	output shell.OutputOptions
	ask    roofline.FitRequest
	config string
	input  string
}

func newServiceFit(e *shell.Env) *cobra.Command {
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
		Args: shell.WantArgs(),
		RunE: func(*cobra.Command, []string) error { return runServiceFit(e, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.input, "measurements", "", "table of measurements: `FILE` (required)")
	f.StringVar(&o.ask.Question.Model, "model", "", "model that was measured: `NAME`")
	f.Int64Var(&o.ask.Chunk, "chunk", o.ask.Chunk, "most tokens of an iteration on that server: `N`")
	shell.Complete(cmd, "model", func() []string { return shell.Entries(&roofline.Models) })
	addModelFlags(cmd, &o.ask.Question, &o.config)
	shell.AddOutputFlags(cmd, &o.output)
	return cmd
}

func runServiceFit(e *shell.Env, o *serviceFitOptions) error {
	if o.input == "" {
		return &shell.UsageError{Text: "service fit wants --measurements FILE", Hint: "capcli service fit --help"}
	}
	if err := readModelConfig(e, o.config, &o.ask.Question); err != nil {
		return err
	}
	text, file, done, err := shell.OpenText(e, o.input)
	if err != nil {
		return err
	}
	defer func() { _ = done.Close() }()
	fit, err := o.ask.Fit(file, text)
	if err != nil {
		return err
	}
	shown := []report.Table{tables.LinesTable(fit.Lines())}
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
		shown = append(shown, report.Fill(report.Table{Name: "rows", Title: "Measured and fitted", Most: 20}, fit.Predicted, tables.FittedFields(fit.Kind)))
	}
	return shell.Emit(e, o.output, report.Doc{Lead: fit.Summary(), Data: fit, Notes: fit.Remarks(), Tables: shown})
}
