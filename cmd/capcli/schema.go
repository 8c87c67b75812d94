package main

import (
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/cmd/schema"
)

// schemaOptions are the flags of capcli schema.
type schemaOptions struct {
	name   string
	closed bool
	output outputOptions
}

func newSchema(e *env) *cobra.Command {
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
			return wantArgs("NAME")(cmd, args)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return entries(&schema.Documents), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.name = args[0]
				return runSchema(e, o)
			}
			return emit(e, o.output, schemaDoc())
		},
	}
	cmd.Flags().BoolVar(&o.closed, "closed", false, "forbid members of an output that the schema does not name")
	addOutputFlags(cmd, &o.output)
	return cmd
}

// schemaDoc lists the documents that have a schema.
func schemaDoc() report.Doc {
	t := report.Table{Name: "documents", Columns: []report.Column{{Name: "name"}, {Name: "id", Priority: 1}, {Name: "doc", Head: "what it is"}}}
	for _, d := range schema.Documents.All() {
		t.Rows = append(t.Rows, []any{d.Name, d.Value.ID, d.Doc})
	}
	return report.Doc{Title: "Documents with a schema", Tables: []report.Table{t}}
}

func runSchema(e *env, o schemaOptions) error {
	if o.output.form != "" && o.output.form != "json" {
		return &usageError{text: "a schema is JSON; -o " + o.output.form + " is for the list of documents"}
	}
	s, err := schema.Print(o.name, o.closed)
	if err != nil {
		return err
	}
	to := o.output.out
	if to == "" {
		to = "-"
	}
	return writeSchema(e, to, s)
}

// writeSchema writes s to the file path.
func writeSchema(e *env, path string, s *schema.Schema) error {
	return writeOutput(e, path, func(out io.Writer) error { return capcli.WriteJSON(out, s) })
}

// editorSchema is the file beside a scenario of scenarios init by which editors check it.
const editorSchema = "capcli-scenario.schema.json"

// writeForEditors writes the schema of scenarios beside the scenario in file, whose first line names it.
func writeForEditors(e *env, file string) error {
	s, err := schema.Print("scenario", false)
	if err != nil {
		return err
	}
	return writeSchema(e, filepath.Join(filepath.Dir(file), editorSchema), s)
}
