// Package paper makes the paper of a planning meeting from saved results: the answer in one
// sentence, figures with a sentence each, assumptions, a glossary and the inputs. Every text is
// computed from the data beside it.
package paper

import (
	"capcli/scenarios/figure"
)

// Schema is the schema of the document of a Paper.
const Schema = "capcli/report/v1"

// Paper is all that a page, a file of Markdown or a workbook shows of a decision.
type Paper struct {
	Schema      string          `json:"schema"`
	Version     string          `json:"capcli"` // version of the program that made it
	Title       string          `json:"title"`
	Answer      Answer          `json:"answer"`
	Warnings    []string        `json:"warnings"` // what a reader must know beside the answer
	Figures     []figure.Figure `json:"figures"`
	Tables      []Table         `json:"tables"`
	Assumptions []Assumption    `json:"assumptions"`
	Glossary    []Term          `json:"glossary"`
	Inputs      []Input         `json:"inputs"`
	Seed        uint64          `json:"seed"`
	Command     string          `json:"command"` // makes the paper again
	Notes       []string        `json:"notes"`
	Board       *Board          `json:"board,omitempty"` // nil where there is no appendix
}

// Board is what a board reads on two printed pages: the answer, the first figures and the first tables.
// The rest is an appendix.
type Board struct {
	Figures int `json:"figures"`
	Tables  int `json:"tables"`
}

// Answer is what the paper says first.
type Answer struct {
	Sentence string     `json:"sentence"` // what to buy, cost a year, work served, waits, the risk
	Details  []string   `json:"details"`  // how good the answer is at most, and what it binds to
	Heads    []Headline `json:"headlines"`
}

// Headline is one large figure under the answer.
type Headline struct {
	Name  string        `json:"name"`
	Value figure.Number `json:"value"`
	Unit  figure.Unit   `json:"unit"`
	Text  string        `json:"text"`  // the value for people: "$1.70M"
	About string        `json:"about"` // over which time and jobs
}

// Table is a table of the paper beside those of its figures. A cell is a string, a
// figure.Number or nil.
type Table struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Sentence string   `json:"sentence,omitempty"`
	Columns  []Column `json:"columns"`
	Rows     [][]any  `json:"rows"`
	Total    bool     `json:"total"` // the last row is the sum of the others, in the columns with Sum
}

// Column is a column of a Table.
type Column struct {
	Name string      `json:"name"`
	Unit figure.Unit `json:"unit"`
	Sum  bool        `json:"sum"`
}

// Assumption is something that the figures rest on, with where it comes from.
type Assumption struct {
	Text   string `json:"text"`
	Source string `json:"source"` // "" is the scenario itself
	Date   string `json:"date"`   // YYYY-MM-DD; "" is not dated
}

// Term is an entry of the glossary.
type Term struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Input is a file that the paper was made from.
type Input struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Of     string `json:"of,omitempty"` // the result that was made from it; "" is a result itself
}
