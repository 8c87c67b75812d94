package service

import (
	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/simulate/serving/roofline"
)

// serviceModelOptions are the flags of capcli service model.
type serviceModelOptions struct {
	output shell.OutputOptions
	ask    roofline.Question
	config string
}

func newServiceModel(e *shell.Env) *cobra.Command {
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
		Args:              cobra.MaximumNArgs(1),
		RunE:              func(_ *cobra.Command, args []string) error { return runServiceModel(e, &o, args) },
		ValidArgsFunction: shell.CompleteArgs(func() []string { return shell.Entries(&roofline.Models) }),
	}
	addModelFlags(cmd, &o.ask, &o.config)
	cmd.Flags().Int64Var(&o.ask.Length, "length", 0, "say how many requests of this many tokens, prompt and answer, fit at once: `N` (default: usual lengths)")
	shell.AddOutputFlags(cmd, &o.output)
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
	shell.Complete(cmd, "gpu", func() []string { return shell.Entries(&roofline.GPUs) })
	shell.Complete(cmd, "weights", func() []string { return []string{"bf16", "fp8", "8bit", "4bit"} })
	shell.Complete(cmd, "kv", func() []string { return []string{"bf16", "fp8"} })
}

func runServiceModel(e *shell.Env, o *serviceModelOptions, args []string) error {
	if len(args) == 0 && o.config == "" {
		return shell.Emit(e, o.output, tables.ModelListDoc(roofline.List()))
	}
	if len(args) > 0 {
		o.ask.Model = args[0]
	}
	if err := readModelConfig(e, o.config, &o.ask); err != nil {
		return err
	}
	return shell.Answer(e, o.output, tables.ModelDoc)(o.ask.Estimate())
}

// readModelConfig reads the numbers of a model from its config.json, if one is named.
func readModelConfig(e *shell.Env, name string, q *roofline.Question) error {
	if name == "" {
		return nil
	}
	text, file, done, err := shell.OpenText(e, name)
	if err != nil {
		return err
	}
	defer func() { _ = done.Close() }()
	q.Own, err = roofline.ReadConfig(file, text)
	return err
}
