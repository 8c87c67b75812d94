// Package strict reads YAML strictly: a file has the fields that its form knows
// and no others, values have units and limits, and everything that is wrong is
// said at once, each fault with its place.
//
// A form states its sections as tables of fields, each with a reader of its
// value. ReadTree gives the tree of a file, ReadObject reads a section by its
// table, and Refusal gives what is wrong as an error. Nothing of a file is
// believed: anchors, aliases, tags and merge keys are faults, and sizes and
// depths have limits.
package strict
