package shell

import (
	"io"
	"path/filepath"

	"capcli"
	"capcli/cmd/schema"
)

// EditorHead is the line of a scenario by which editors find its schema.
const EditorHead = "# yaml-language-server: $schema=" + editorSchema + "\n"

// WriteSchema writes s to the file path.
func WriteSchema(e *Env, path string, s *schema.Schema) error {
	return WriteOutput(e, path, func(out io.Writer) error { return capcli.WriteJSON(out, s) })
}

// editorSchema is the file beside a scenario of scenarios init by which editors check it.
const editorSchema = "capcli-scenario.schema.json"

// WriteForEditors writes the schema of scenarios beside the scenario in file, whose first line names it.
func WriteForEditors(e *Env, file string) error {
	s, err := schema.Print("scenario", false)
	if err != nil {
		return err
	}
	return WriteSchema(e, filepath.Join(filepath.Dir(file), editorSchema), s)
}
