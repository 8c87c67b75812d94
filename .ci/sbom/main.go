// Command sbom writes what a Go program is made of as SPDX 2.3: its own module and each module that is
// linked into it, as the program itself says (runtime/debug.BuildInfo), so nothing that is only
// used in tests is listed.
//
//	sbom PROGRAM NAME VERSION NAMESPACE TIME > NAME.spdx.json
package main

import (
	"debug/buildinfo"
	"fmt"
	"log"
	"os"
	"regexp"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdxlib"
)

func main() {
	if len(os.Args) != 6 {
		log.Fatal("usage: sbom PROGRAM NAME VERSION NAMESPACE TIME")
	}
	doc, err := document(os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5])
	if err == nil {
		err = spdxlib.ValidateDocument(doc)
	}
	if err == nil {
		err = json.Write(doc, os.Stdout, json.Indent("  "))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// document returns the SPDX document of a program. created is its time, RFC 3339 in UTC.
func document(program, name, version, namespace, created string) (*spdx.Document, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName: name + "-" + version, DocumentNamespace: namespace,
		CreationInfo: &spdx.CreationInfo{Created: created, Creators: []common.Creator{{CreatorType: "Tool", Creator: "sbom"}}},
	}
	add := func(of common.ElementID, relation, name, version, source string) common.ElementID {
		p := module(name, version, source)
		doc.Packages = append(doc.Packages, p)
		doc.Relationships = append(doc.Relationships, &spdx.Relationship{
			RefA: common.MakeDocElementID("", string(of)), RefB: common.MakeDocElementID("", string(p.PackageSPDXIdentifier)), Relationship: relation,
		})
		return p.PackageSPDXIdentifier
	}
	own := add("DOCUMENT", common.TypeRelationshipDescribe, info.Main.Path, version, "")
	add(own, common.TypeRelationshipDependsOn, "std", info.GoVersion, "the standard library of Go")
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		add(own, common.TypeRelationshipDependsOn, m.Path, m.Version, fmt.Sprintf("go.sum: %s", m.Sum))
	}
	return doc, nil
}

var unfit = regexp.MustCompile(`[^a-zA-Z0-9.-]+`)

func module(name, version, source string) *spdx.Package {
	return &spdx.Package{
		PackageName: name, PackageVersion: version, PackageSourceInfo: source,
		PackageSPDXIdentifier:   common.ElementID("Package-" + unfit.ReplaceAllString(name+"-"+version, "-")),
		PackageDownloadLocation: "NOASSERTION", PackageLicenseConcluded: "NOASSERTION", PackageLicenseDeclared: "NOASSERTION", PackageCopyrightText: "NOASSERTION",
		PackageExternalReferences: []*spdx.PackageExternalReference{{
			Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: "pkg:golang/" + name + "@" + version,
		}},
	}
}
