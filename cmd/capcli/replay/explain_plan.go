package replay

import (
	"fmt"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/decide/plan/rationale"
	"capcli/scenarios/play"
)

// explainPlan explains why a plan written by capcli plan is the chosen one.
func explainPlan(e *shell.Env, o *ExplainOptions, args []string, text []byte) error {
	return shell.Answer(e, o.output, tables.RationaleDoc)(whyPlan(args[0], text, args[1:]))
}

// whyPlan explains the plan in text; more are the arguments after the file, which must be empty.
func whyPlan(file string, text []byte, more []string) (*rationale.Answer, error) {
	schema, err := rationale.ReadSchema(file, text)
	switch {
	case err != nil:
		return nil, err
	case schema == "capcli/simulate/v1":
		return nil, &play.MissingInputError{
			Text: file + " is a result without its inputs, so its runs cannot be repeated",
			Hint: "capcli simulate … --out DIR writes a folder with its inputs: capcli explain DIR/plan " + shell.OrOne(more)[0],
		}
	case len(more) > 0 && rationale.IsPlan(schema):
		return nil, &shell.UsageError{Text: fmt.Sprintf("a plan is explained as a whole, found also %q", more[0]), Hint: "capcli explain " + file}
	}
	return rationale.Explain(file, text)
}
