package service

import (
	_ "embed" // the template is a file
	"fmt"
	"regexp"
	"strings"
)

//go:embed template.yaml.txt
var templateText string

// Template returns a service to begin with. It can be played as it is and has every field, most of them as
// comments.
func Template() string {
	var more strings.Builder
	s := Section.Start
	for _, f := range fields(&s) {
		if !regexp.MustCompile(`(?m)^#?` + f.Name + `:`).MatchString(templateText) {
			fmt.Fprintf(&more, "#%s:  # %s\n", f.Name, f.Doc)
		}
	}
	if more.Len() == 0 {
		return templateText
	}
	return templateText + "\n# --- In a scenario.\n" + more.String()
}
