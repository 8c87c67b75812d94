package pages

import (
	"bytes"
	"io"

	"capcli"
	"capcli/cmd/capcli/replay"
	"capcli/cmd/files"
	"capcli/cmd/report/page"
	"capcli/cmd/report/paper"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
)

// checkReport makes the paper in the file of --check again, and says what differs.
func checkReport(e *shell.Env, o *reportOptions, args []string) error {
	if len(args) > 0 || o.out != "-" || o.xlsx != "" || o.figures != "" || o.title != "" {
		return &shell.UsageError{Text: "--check takes one file and its inputs, and writes nothing", Hint: "capcli report --check " + o.check}
	}
	in, done, err := e.Open(o.check)
	if err != nil {
		return err
	}
	defer func() { _ = done.Close() }()
	text, err := io.ReadAll(io.LimitReader(in.R, replay.RunsMax))
	if err != nil {
		return files.OpenError(o.check, err)
	}
	if text, err = paperDocument(o.check, text); err != nil {
		return err
	}
	c, err := paper.Check(e.Open, o.check, text, shell.VersionText())
	if err != nil {
		return err
	}
	if err := shell.Emit(e, shell.OutputOptions{Form: o.form}, tables.CheckDoc(o.check, c)); err != nil || c.Same {
		return err
	}
	return &capcli.ResultError{Kind: capcli.ConditionTrue, Text: o.check + " is not what its inputs make today", Hint: "make it again: " + c.Command}
}

// paperDocument returns the document of a paper: text itself, or what a page holds.
func paperDocument(name string, text []byte) ([]byte, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return text, nil
	}
	doc, err := page.Document(text)
	if err != nil {
		return nil, &capcli.InputError{File: name, Text: "expected a paper of capcli report as HTML or JSON, found something else", Hint: "capcli report --check meeting.html", Err: err}
	}
	return doc, nil
}
