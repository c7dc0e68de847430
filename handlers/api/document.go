package api

import (
	"encoding"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
)

// Document is the OpenAPI document that describes this surface. The first caller
// has it built, and the others wait for that: it takes longer than all the rest of
// the start, and few servers are ever asked for it.
func (a *API) Document() ([]byte, error) { return a.document() }

// openAPI serves the document, without sign-in.
func (a *API) openAPI(c echo.Context) error {
	document, err := a.Document()
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "application/openapi+json", document)
}

func (a *API) buildDocument() ([]byte, error) {
	document, err := a.described().huma.OpenAPI().MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	return document, nil
}

// described is a copy of the surface that serves no requests: it has the same routes, the schemas of all types, and
// their descriptions.
func (a *API) described() *API {
	d := &API{kit: a.kit, store: a.store, version: a.version, echo: echo.New(), waitRoutes: map[route]bool{}}
	d.huma = humaecho.New(d.echo, configOf(d.version))
	d.register()
	d.describe()
	return d
}

// servingSchemas are what requests are checked by. Only their parameters are:
// bodies are read strictly into their types (SkipValidateBody), so the schema of
// a type with members stays empty here.
type servingSchemas struct{ huma.Registry }

// Schema has the signature of huma.Registry.
func (s servingSchemas) Schema(t reflect.Type, allowRef bool, hint string) *huma.Schema {
	if hasMembers(t) {
		return &huma.Schema{}
	}
	return s.Registry.Schema(t, allowRef, hint)
}

// hasMembers reports whether huma would describe a type member by member.
func hasMembers(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() &&
		!reflect.PointerTo(t).Implements(reflect.TypeFor[huma.SchemaProvider]()) &&
		!reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}
