package data

import (
	"cmp"

	"github.com/spf13/cobra"

	"capcli/cmd/schema"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
)

// schemaOptions are the flags of capcli schema.
type schemaOptions struct {
	name   string
	closed bool
	output shell.OutputOptions
}

func newSchema(e *shell.Env) *cobra.Command {
	var o schemaOptions
	cmd := &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print the JSON Schema of an input or an output",
		Long: "schema prints the JSON Schema (2020-12) of a file that capcli reads or a document that it\n" +
			"writes. Without a NAME it lists them. The schema of an input allows no other fields, as the\n" +
			"reader does. A later version may add members to an output; --closed forbids them.",
		Example: "  capcli schema\n  capcli schema scenario --out scenario.schema.json\n  capcli schema plan_mix --closed",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return shell.WantArgs("NAME")(cmd, args)
		},
		ValidArgsFunction: shell.CompleteArgs(func() []string { return shell.Entries(&schema.Documents) }),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.name = args[0]
				return runSchema(e, o)
			}
			return shell.Emit(e, o.output, tables.SchemaDoc())
		},
	}
	cmd.Flags().BoolVar(&o.closed, "closed", false, "forbid members of an output that the schema does not name")
	shell.AddOutputFlags(cmd, &o.output)
	return cmd
}

func runSchema(e *shell.Env, o schemaOptions) error {
	if o.output.Form != "" && o.output.Form != "json" {
		return &shell.UsageError{Text: "a schema is JSON; -o " + o.output.Form + " is for the list of documents"}
	}
	s, err := schema.Print(o.name, o.closed)
	if err != nil {
		return err
	}
	to := cmp.Or(o.output.Out, "-")
	return shell.WriteSchema(e, to, s)
}
