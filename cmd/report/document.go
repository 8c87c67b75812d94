package report

import "encoding/json"

// Failure is the document capcli/error/v1: why a command failed.
type Failure struct {
	Schema string  `json:"schema"`
	Error  Problem `json:"error"`
}

// Problem is an error of a command.
type Problem struct {
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`  // how to mend it
	File  string `json:"file,omitempty"`  // input with the fault
	Line  int    `json:"line,omitempty"`  // from 1
	Field string `json:"field,omitempty"` // such as capacity[0].gpus
	Exit  int    `json:"exit"`            // exit code of the program
}

// Progress is the document capcli/progress/v1: how far a command is.
type Progress struct {
	Schema  string  `json:"schema"`
	Unit    string  `json:"unit"` // what is counted, such as runs
	Done    int64   `json:"done"`
	Total   *int64  `json:"total"` // null where it is unknown
	AtMost  bool    `json:"total_is_at_most,omitempty"`
	Elapsed float64 `json:"elapsed_s"` // seconds
}

// TableDocument is the document capcli/tables/v1: a result that has no document of its own.
type TableDocument struct {
	Schema string      `json:"schema"`
	Tables []TableRows `json:"tables"`
}

// TableRows are the rows of a table as JSON objects, with the table's columns as members.
type TableRows struct {
	Name string            `json:"name"`
	Rows []json.RawMessage `json:"rows"`
}
