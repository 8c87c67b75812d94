package page

import (
	"bytes"

	"capcli/cmd/report/paper"
	"capcli/profile/logs/trace"
)

// Maker returns a function that makes the page of a paper from documents, which open opens, as capcli report does.
// version is that of the program, and command the command line that makes the page.
func Maker(version string) func(open trace.Opener, documents []string, command string) ([]byte, error) {
	return func(open trace.Opener, documents []string, command string) ([]byte, error) {
		q := paper.Request{Version: version, Command: command}
		for _, name := range documents {
			f, err := paper.ReadFile(open, name)
			if err != nil {
				return nil, err
			}
			q.Files = append(q.Files, *f)
		}
		p, err := paper.Make(&q)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = Write(&b, p, Options{})
		return b.Bytes(), err
	}
}
