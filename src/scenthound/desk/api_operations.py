"""Declare the operations of the API: each route once, with its handler and its OpenAPI description. Example:

ROUTES = [
    get("/api/collections/{name}/map", get_map, "The pages of a map.", MAP, LIMIT, LINKS),
    post("/api/seeds", find_seeds, "Find pages to start from.", SEEDS, SeedRequest),
]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from starlette.routing import BaseRoute, Route

from scenthound.desk.api_base import Handler, json_endpoint
from scenthound.desk.request_parameters import Parameter
from scenthound.desk.shapes import TEXT, Shape, fields, named_shapes, shape_of

JSON = "application/json"
ERROR = fields(error=TEXT, hint=TEXT)
ERRORS = {
    400: "The request is invalid; the error says why.",
    401: "The token is missing.",
    403: "The request came from another site.",
    404: "Not found.",
    409: "Another process is using the folder.",
    413: "The request body is too large.",
    421: "The Host header does not name the desk.",
    500: "A disk or system error occurred.",
    507: "The disk is full.",
}
ONLY_POST = (401, 413)  # errors that only a POST can cause


class Operation(Route):
    """A route of the API, with its OpenAPI description."""

    def __init__(self, method: str, path: str, handler: Handler, openapi: dict[str, Any], kinds: Iterable[Any]) -> None:
        super().__init__(path, json_endpoint(handler), methods=[method])
        self.method, self.openapi, self.kinds = method, openapi, kinds


def get(
    path: str,
    handler: Handler,
    about: str,
    shape: Shape | type,
    *query: Parameter,
    kinds: Iterable[str] = (JSON,),
    path_shapes: Mapping[str, Shape] | None = None,
    is_private: bool = False,
) -> Operation:
    """Declare a GET operation.

    `kinds` are the media types of the response; `path_shapes` maps path parameters to their schemas; `is_private` means
    that reading requires the token.
    """
    excluded = (413,) if is_private else ONLY_POST
    openapi: dict[str, Any] = {
        "summary": about,
        "parameters": [*_path_parameters(path, path_shapes or {}), *map(_query_parameter, query)],
        "responses": {
            "200": _response(about, shape, kinds),
            **{str(code): _response(text, ERROR) for code, text in ERRORS.items() if code not in excluded},
        },
    }
    if is_private:
        openapi["security"] = [{"token": []}]
    return Operation("GET", path, handler, openapi, _types(shape))


def post(
    path: str,
    handler: Handler,
    about: str,
    shape: Shape | type,
    body: type[msgspec.Struct] | None = None,
    code: int = 200,
) -> Operation:
    """Declare a POST operation; `body` declares its JSON. It changes something, so it requires the token."""
    openapi = {
        "summary": about,
        "parameters": _path_parameters(path, {}),
        "security": [{"token": []}],
        "responses": {
            str(code): _response(about, shape),
            **{str(error): _response(text, ERROR) for error, text in ERRORS.items()},
        },
    }
    if body is not None:
        openapi["requestBody"] = {"required": True, "content": {JSON: {"schema": shape_of(body)}}}
    return Operation("POST", path, handler, openapi, _types(shape, body))


def description(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 description of these routes."""
    paths: dict[str, dict[str, Any]] = {}
    operations = [route for route in routes if isinstance(route, Operation)]
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = operation.openapi
    kinds = [kind for operation in operations for kind in operation.kinds]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Scenthound desk",
            "version": "1",
            "description": "Start, watch, steer and search crawls. Every POST needs the token of the desk.",
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": named_shapes(kinds),
        },
        "paths": paths,
    }


def _types(*shapes: Any) -> list[Any]:
    """The types among the shapes of an operation."""
    return [shape for shape in shapes if isinstance(shape, type)]


def _response(about: str, shape: Shape | type, kinds: Iterable[str] = (JSON,)) -> dict[str, Any]:
    # Starlette adds the charset to every text type
    schema = shape_of(shape) if isinstance(shape, type) else shape
    content = {f"{kind}; charset=utf-8" if kind.startswith("text/") else kind: {"schema": schema} for kind in kinds}
    return {"description": about, "content": content}


def _path_parameters(path: str, path_shapes: Mapping[str, Shape]) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": path_shapes.get(name, TEXT)}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _query_parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "schema": parameter.shape,
        "description": parameter.about,
        "required": parameter.is_required,
    }
