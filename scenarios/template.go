package scenarios

import (
	_ "embed" // the template is a file
)

//go:embed template.yaml.txt
var templateText string

// Template returns a scenario to begin with. It runs as it is and has every field, most
// of them as comments.
func Template() string { return templateText }
