// Package schema describes the documents of the program in JSON Schema, draft 2020-12
// (https://json-schema.org/draft/2020-12).
//
// The schema of an output is made from the Go type that encoding/json writes, by reflection: names
// and omitted members from json tags, descriptions from doc comments (comments.tsv, which a test holds
// against the source). The schema of a YAML file is made from the tables of fields by which the strict
// reader reads it. So no schema can say another thing than the program.
//
// A list is never null, unless its field says so: schema:"nullable". The forms of package report write
// a nil slice as an empty list (FillLists).
//
// Rule on members that a schema does not name: an input has none, because the reader rejects them. An
// output may have more in a later version, because a version of a document only ever gains members; with
// Closed an output has none either, by which the tests hold the program against its schemas.
package schema
