// Package strict reads YAML strictly: a file may have only the fields of its form, values have
// units and limits, and all faults are reported at once, each with its place.
//
// A form states its sections as tables of fields, each with a reader of its value. ReadTree returns
// the tree of a file, ReadObject reads a section by its table, and Refusal returns the faults as an
// error. Input is not trusted: anchors, aliases, tags and merge keys are faults, and sizes and
// depths have limits.
package strict
