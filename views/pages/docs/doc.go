// Package docs is the page of the API's reference, read from the OpenAPI document: operations in
// groups, their fields, and examples. It knows no operation by name.
package docs
